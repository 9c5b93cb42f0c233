# Read against Conforma's sources (conforma/policy 7211d032, conforma/cli a1833841), never run: neither ec nor opa was at hand.

#
# METADATA
# title: Receipts
# description: >-
#   Conforma's package test_attestation judges the test results that an image has, and passes an image without any. This package
#   requires a result for each test of the rule data "receipt_tests".
#
package receipts

import rego.v1

import data.lib.image
import data.lib.intoto
import data.lib.json as j
import data.lib.metadata
import data.lib.rule_data

# METADATA
# title: Required tests passed
# description: >-
#   Produce a violation for each test of the rule data "receipt_tests" without a trusted result PASSED, for this image and in the
#   environment.
# custom:
#   short_name: required_tests_passed
#   failure_msg: No trusted result says that test %q passed in environment %q
#   solution: >-
#     Run the gate with --subject for this image, and attach its receipt to the image.
#
deny contains result if {
	some test in rule_data.get("receipt_tests")
	not _passed(test)
	result := metadata.result_helper_with_term(rego.metadata.chain(), [test.name, test.environment], test.name)
}

# METADATA
# title: Rule data provided
# description: >-
#   Without the rule data "receipt_tests", no test would be required.
# custom:
#   short_name: rule_data_provided
#   failure_msg: '%s'
#   solution: Set the rule data receipt_tests to a list of tests, each with name and environment.
#
deny contains result if {
	some error in j.validate_schema(rule_data.get("receipt_tests"), {
		"$schema": "http://json-schema.org/draft-07/schema#",
		"type": "array",
		"minItems": 1,
		"items": {
			"type": "object",
			"properties": {"name": {"type": "string"}, "environment": {"type": "string"}},
			"required": ["name", "environment"],
		},
	})
	message := sprintf("Rule data receipt_tests has unexpected format: %s", [error.message])
	result := metadata.result_helper_with_severity(rego.metadata.chain(), [message], error.severity)
}

_passed(test) if {
	some statement in _statements
	_about_image(statement)
	statement.predicate.result == "PASSED"
	statement.predicate.configuration[0].name == test.name
	_environments(statement.predicate) == [test.environment]
}

# Bundles at the image that the receipts' key signed.
_statements contains attestation.statement if {
	public_key := rule_data.get("receipt_public_key")
	is_string(public_key)
	verification := ec.sigstore.verify_attestation(input.image.ref, {"ignore_rekor": true, "public_key": public_key})
	verification.success
	some attestation in verification.attestations
	attestation.statement.predicateType == intoto.predicate_test_result
}

# Statements at the image whose file has Tekton Chains provenance of trusted tasks only.
_statements contains statement if {
	some statement in intoto.verified_statements_by_predicate(intoto.predicate_test_result)
}

_about_image(statement) if {
	some subject in statement.subject
	image.parse(input.image.ref).digest in intoto.subject_digests(subject)
}

_environments(predicate) := [entry.annotations.key |
	some entry in predicate.configuration
	entry.name == "environment"
]
