// The policies of docs/policies, tested without a cluster, `ec` and `opa`: their fields, the names in them, and the images that the CEL expressions admit.
import { createPublicKey, verify } from 'node:crypto';
import { type CelInput, CelScalar, celFunc, isCelError, listType, run } from '@bufbuild/cel';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import type { RunReport } from '../../src/gate/result-types.ts';
import { bundleType } from '../../src/receipt/bundle.ts';
import { type Envelope, preAuthEncoding, signStatement } from '../../src/receipt/dsse.ts';
import { type GateFacts, gateStatement } from '../../src/receipt/gate-statement.ts';
import { readPrivateKey } from '../../src/receipt/keys.ts';
import { payloadType, type Statement } from '../../src/receipt/statement.ts';
import { gate, run as runReport } from '../ci/reports/samples.ts';
import { read, type Yaml, yaml } from '../docs/ci-job.ts';
import { commit, image, stranger, trusted } from './table.ts';

const kyverno = read('docs/policies/kyverno.yaml');
const conforma = yaml(read('docs/policies/conforma/policy.yaml'));
const rego = read('docs/policies/conforma/rules/receipts.rego');

/** The policy with the commented attestor in place of the one with a key. */
const keyless = kyverno
  .replace(/^ {4}- name: gate\n[\s\S]*?^ {4}# Signed by .*\n/m, '')
  .replace(/^( {4})# ((?:- | {2}).*)$/gm, '$1$2');

const text = { type: 'string' };
const texts = { type: 'array', items: text, minItems: 1 };
const yes = { const: true };
const object = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});
const list = (items: object) => ({ type: 'array', items, minItems: 1 });
const expressions = object({ expression: text, message: { type: 'string', pattern: '^[^\n]+$' } });
const problems = (schema: object, value: unknown) => {
  const ajv = new Ajv();
  return ajv.validate(schema, value) ? [] : ajv.errors;
};

/** The fields that the policy uses, as in Kyverno's CRD of this kind (kyverno/kyverno 111e07bbec, config/crds). */
const kyvernoFields = object({
  apiVersion: { enum: ['policies.kyverno.io/v1', 'policies.kyverno.io/v1beta1'] },
  kind: { const: 'ImageValidatingPolicy' },
  metadata: object({ name: text }),
  spec: object({
    failurePolicy: { const: 'Fail' },
    validationActions: { const: ['Deny'] },
    webhookConfiguration: object({ timeoutSeconds: { type: 'integer', maximum: 30 } }),
    matchConstraints: object({
      resourceRules: list(
        object({ apiGroups: texts, apiVersions: texts, operations: texts, resources: texts }),
      ),
    }),
    matchImageReferences: list(object({ glob: text })),
    validationConfigurations: object({ mutateDigest: yes, verifyDigest: yes, required: yes }),
    attestors: list(
      object({
        name: text,
        cosign: object(
          {
            key: object({ data: text }),
            ctlog: object({ insecureIgnoreTlog: yes }),
            keyless: object({ identities: list(object({ issuer: text, subject: text })) }),
          },
          [],
        ),
      }),
    ),
    attestations: list(object({ name: text, intoto: object({ type: text }) })),
    validations: list(expressions),
  }),
});

/** The fields of an EnterpriseContractPolicy that the policy uses (conforma/crds 6f685d0, api/v1alpha1). */
const conformaFields = object({
  name: text,
  description: text,
  publicKey: text,
  sources: list(
    object({ name: text, policy: texts, config: object({ include: texts }), ruleData: { type: 'object' } }),
  ),
});

const passed = runReport({ name: 'shop / checkout', project: 'shop', process: 'checkout' });
const facts: GateFacts = {
  commit,
  subjects: [image],
  repository: 'acme/shop',
  ref: 'main',
  environment: 'staging',
  baseUrl: null,
  buildUrl: null,
  apiUrl: 'https://service.example.com',
  policy: { passed: 'pass', failed: 'fail' },
  startedAt: 0,
  finishedAt: 1000,
};

/** Returns the statement that a gate writes. */
function written(over: Partial<RunReport> = {}, known: Partial<GateFacts> = {}): Statement {
  const statement = gateStatement(gate([{ ...passed, ...over }]), { ...facts, ...known });
  if (statement === null) throw new Error('no statement');
  return statement;
}

const signed = async (statement: Statement, pem = trusted.privatePem) =>
  signStatement(JSON.stringify(statement), await readPrivateKey(pem));

/** Returns JSON with maps in place of objects, as CEL has it. */
function celOf(value: unknown): CelInput {
  if (Array.isArray(value)) return value.map(celOf);
  if (typeof value !== 'object' || value === null) return value as CelInput;
  return new Map(Object.entries(value).map(([key, one]) => [key, celOf(one)]));
}

type Registry = Readonly<Record<string, readonly Envelope[]>>;
type Images = Readonly<Partial<Record<'containers' | 'initContainers' | 'ephemeralContainers', string[]>>>;

const statementIn = ({ payload }: Envelope): Statement =>
  JSON.parse(Buffer.from(payload, 'base64').toString());

/** Returns the message of the first validation that fails, `null` if all pass; an error of CEL fails the admission, too. */
function refusalOf(registry: Registry, images: Images): string | null {
  const { attestors, attestations, validations } = yaml(kyverno).spec;
  const [attestor] = attestors;
  const [attestation] = attestations;
  const key = createPublicKey(attestor.cosign.key.data);
  /** What Kyverno does: the signature, then a subject's SHA-256, then the type. The last one of a type is extracted. */
  const verified = (ref: string) =>
    (registry[ref] ?? []).filter((envelope) => {
      const payload = Buffer.from(envelope.payload, 'base64');
      const signature = Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64');
      if (!verify(null, preAuthEncoding(envelope.payloadType, payload), key, signature)) return false;
      const { subject, predicateType } = statementIn(envelope);
      const digests = subject.map(({ digest }) => ('sha256' in digest ? `sha256:${digest.sha256}` : ''));
      return digests.includes(ref.split('@')[1] ?? '') && predicateType === attestation.intoto.type;
    });
  const funcs = [
    celFunc(
      'verifyAttestationSignatures',
      [CelScalar.STRING, CelScalar.STRING, listType(CelScalar.DYN)],
      CelScalar.INT,
      (ref, name) => (name === attestation.name && verified(ref).length > 0 ? 1n : 0n),
    ),
    celFunc('extractPayload', [CelScalar.STRING, CelScalar.STRING], CelScalar.DYN, (ref) => {
      const last = verified(ref).at(-1);
      if (last === undefined) throw new Error('not verified');
      return celOf(statementIn(last));
    }),
  ];
  const bindings = {
    images: celOf({ containers: [], initContainers: [], ephemeralContainers: [], ...images }),
    attestors: celOf({ [attestor.name]: attestor.name }),
    attestations: celOf({ [attestation.name]: attestation.name }),
  };
  for (const { expression, message } of validations) {
    const outcome = run(expression, bindings, { funcs });
    if (isCelError(outcome)) return `error: ${outcome.message}`;
    if (outcome !== true) return message;
  }
  return null;
}

const shop = `${image.name}@sha256:${image.digest.sha256}`;
const other = `${image.name}@sha256:${'0'.repeat(64)}`;
const refused = async (statement: Statement, pem?: string) =>
  refusalOf({ [shop]: [await signed(statement, pem)] }, { containers: [shop] });

describe('the pages', () => {
  const page = read('docs/how-to/image-policies.md') + read('docs/reference/receipts.md');
  const named = (pattern: RegExp) => [...new Set(page.match(pattern))];

  it('name the types that a gate writes', () => {
    expect(named(/https:\/\/in-toto\.io\/attestation\/[\w./-]+/g)).toEqual([written().predicateType]);
    expect(named(/application\/vnd\.dev\.sigstore\.[\w.+]+/g)).toEqual([bundleType]);
    expect(named(/application\/vnd\.in-toto[\w.+]+/g)).toEqual([payloadType]);
  });

  it.each([
    ['docs/policies/kyverno.yaml', 2],
    ['docs/policies/conforma/policy.yaml', 3],
    ['docs/policies/conforma/rules/receipts.rego', 2],
  ])('say, as %s does, that it was never run, and against which sources it was read', (file, count) => {
    const [mark = ''] = /^# Read against .* never run: .*$/m.exec(read(file)) ?? [];
    const sources = [...mark.matchAll(/(\w+\/\w+) ([0-9a-f]{7,10})\b/g)];
    expect(sources).toHaveLength(count);
    for (const [, repository, read] of sources) expect(page).toContain(`${repository} \`${read}\``);
  });
});

describe('the policy for Kyverno', () => {
  it.each([
    ['with a key', kyverno],
    ['with the keyless attestor', keyless],
  ])('has only fields of the CRD, %s', (_name, file) => {
    expect(problems(kyvernoFields, yaml(file))).toEqual([]);
  });

  it('has the attestor of the comment in place of the key', () => {
    expect(yaml(keyless).spec.attestors).toHaveLength(1);
    expect(yaml(keyless).spec.attestors[0].cosign).toHaveProperty('keyless');
  });

  it('asks for the predicate type that a gate writes', () => {
    expect(yaml(kyverno).spec.attestations[0].intoto.type).toBe(written().predicateType);
  });

  it('admits an image whose test passed in staging', async () => {
    expect(await refused(written())).toBeNull();
  });

  it('admits it also if the receipt names a base URL', async () => {
    expect(await refused(written({}, { baseUrl: 'https://pr-7.example.com/' }))).toBeNull();
  });

  const untrusted = 'the image has no test result with a trusted signature';
  const elsewhere = 'the test did not run in staging';
  const failed = 'the test result is not PASSED';
  it.each<[string, Statement, string, string?]>([
    ['a receipt of another key', written(), untrusted, stranger.privatePem],
    ['a receipt without the image', written({}, { subjects: [] }), untrusted],
    ['another type of statement', { ...written(), predicateType: 'other' as never }, untrusted],
    ['a failed test', written({ verdict: 'failed', action: 'fail', failed: 1 }), failed],
    ['a test that the policy let through', written({ verdict: 'failed', action: 'warn', failed: 1 }), failed],
    ['another test', written({ name: 'shop / search' }), 'the test result is not that of shop / checkout'],
    ['another environment', written({}, { environment: 'dev' }), elsewhere],
    ['the default environment', written({}, { environment: null }), elsewhere],
  ])('refuses %s', async (_name, statement, message, pem) => {
    expect(await refused(statement, pem)).toBe(message);
  });

  it('refuses two environments', async () => {
    const statement = written();
    const [test, ...others] = statement.predicate.configuration;
    const [, dev] = written({}, { environment: 'dev' }).predicate.configuration;
    if (dev === undefined) throw new Error('no environment');
    const predicate = { ...statement.predicate, configuration: [test, ...others, dev] as const };
    expect(await refused({ ...statement, predicate })).toBe(elsewhere);
  });

  it.each(['containers', 'initContainers', 'ephemeralContainers'] as const)(
    'refuses an image without a receipt in %s, beside one with a receipt',
    async (kind) => {
      const registry = { [shop]: [await signed(written())] };
      expect(refusalOf(registry, { containers: [shop], [kind]: [shop, other] })).toBe(untrusted);
    },
  );

  it('reads one of several receipts of an image, which the page warns of', async () => {
    const [good, bad] = [
      await signed(written()),
      await signed(written({ verdict: 'failed', action: 'fail' })),
    ];
    expect(refusalOf({ [shop]: [bad, good] }, { containers: [shop] })).toBeNull();
    expect(refusalOf({ [shop]: [good, bad] }, { containers: [shop] })).toBe(failed);
  });
});

describe('the policy for Conforma', () => {
  const [{ ruleData, config }]: Yaml = conforma.sources;

  it('has only fields of an EnterpriseContractPolicy', () => {
    expect(problems(conformaFields, conforma)).toEqual([]);
  });

  it('includes the rules, and gives them the rule data that they read', () => {
    expect(config.include).toContain(/^package (\w+)$/m.exec(rego)?.[1]);
    const keys = [...rego.matchAll(/rule_data\.get\("(\w+)"\)/g)].map(([, key]) => key);
    expect([...new Set(keys)].sort()).toEqual(Object.keys(ruleData).sort());
  });

  it('requires a test by the name and the environment that a gate writes', () => {
    const { configuration } = written().predicate;
    const [{ name }, environment] = configuration;
    expect(ruleData.receipt_tests).toEqual([{ name, environment: environment?.annotations?.key }]);
    expect(rego).toContain(`entry.name == "${environment?.name}"`);
    expect(rego).toContain(`statement.predicate.result == "${written().predicate.result}"`);
  });

  it('trusts the same key as the policy for Kyverno', () => {
    expect(ruleData.receipt_public_key).toBe(yaml(kyverno).spec.attestors[0].cosign.key.data);
  });

  it('writes annotations of rules that are YAML, each with a name and a message', () => {
    const blocks = [...rego.matchAll(/^# METADATA\n((?:#.*\n)+)/gm)].map(([, block = '']) =>
      yaml(block.replace(/^# ?/gm, '')),
    );
    expect(blocks.map(({ title }) => title)).toEqual([
      'Receipts',
      'Required tests passed',
      'Rule data provided',
    ]);
    const rules = blocks.slice(1).map(({ custom }) => custom);
    expect(
      rules.filter(({ short_name, failure_msg, solution }) => !(short_name && failure_msg && solution)),
    ).toEqual([]);
  });
});
