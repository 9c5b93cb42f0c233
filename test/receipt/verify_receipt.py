"""Verifies and signs receipts with securesystemslib and in-toto, as Debian packages them. Reads JSON, prints JSON."""
import base64, json, sys

from in_toto.models.metadata import Metablock  # noqa: F401 (in-toto must be installed, and uses the same library)
from securesystemslib import keys
from securesystemslib.signer import SSlibKey, Signature


def pae(payload_type, payload):
    """The pre-authentication encoding of DSSE 1.0.2, as its specification has it."""
    parts = [b"DSSEv1", b"%d" % len(payload_type), payload_type, b"%d" % len(payload), payload]
    return b" ".join(parts)


def opened(envelope, given):
    """The payload of an envelope, and for each signature True or the name of the error."""
    payload = base64.b64decode(envelope["payload"], validate=True)
    message = pae(envelope["payloadType"].encode(), payload)
    key = SSlibKey(given["keyid"], "ed25519", "ed25519", {"public": given["public"]})
    verified = []
    for one in envelope["signatures"]:
        signature = Signature(one["keyid"], base64.b64decode(one["sig"], validate=True).hex())
        try:
            key.verify_signature(signature, message)
            verified.append(True)
        except Exception as error:  # which one differs between versions
            verified.append(type(error).__name__)
    return payload, verified


def attested(text, given):
    """Why in-toto's packages refuse an envelope; None if one signature is valid and so is the statement."""
    from google.protobuf.json_format import Parse
    from in_toto_attestation.v1.statement import Statement
    from in_toto_attestation.v1.statement_pb2 import Statement as StatementMessage

    try:
        payload, verified = opened(json.loads(text), given)
        if True not in verified:
            return "signature"
        Statement.copy_from_pb(Parse(payload, StatementMessage())).validate()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def parsed(text):
    """The statement and the predicate as in-toto's messages have them. A field that they do not know is an error."""
    from google.protobuf.json_format import MessageToDict, Parse, ParseDict
    from in_toto_attestation.predicates.test_result.v0.test_result_pb2 import TestResult
    from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
    from in_toto_attestation.v1.statement import Statement
    from in_toto_attestation.v1.statement_pb2 import Statement as StatementMessage

    try:
        statement = Statement.copy_from_pb(Parse(text, StatementMessage()))
        statement.validate()
        predicate = ParseDict(MessageToDict(statement.pb.predicate), TestResult())
        for descriptor in predicate.configuration:
            ResourceDescriptor.copy_from_pb(descriptor).validate()
        # What the specification requires, beyond the check of the package.
        for one in [*statement.pb.subject, *predicate.configuration]:
            if not (one.uri or one.digest or one.content):
                raise ValueError(f"{one.name} has no uri, digest or content")
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"statement": MessageToDict(statement.pb), "predicate": MessageToDict(predicate)}


def main():
    given = json.load(sys.stdin)
    sys.path += given.get("path", [])
    if given["action"] == "attested":
        return [attested(text, given) for text in given["envelopes"]]
    if given["action"] == "parsed":
        return [parsed(text) for text in given["statements"]]
    if given["action"] == "verify":
        payload, verified = opened(given["envelope"], given)
        return {"verified": verified, "statement": json.loads(payload)}
    key = keys.generate_ed25519_key()
    payload = given["payload"].encode()
    signature = keys.create_signature(key, pae(given["payloadType"].encode(), payload))
    envelope = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": given["payloadType"],
        "signatures": [{"keyid": signature["keyid"], "sig": base64.b64encode(bytes.fromhex(signature["sig"])).decode()}],
    }
    return {"envelope": envelope, "public": key["keyval"]["public"]}


json.dump(main(), sys.stdout)
