import type { EndpointName } from '../../contract/index.ts';

const environment = 'env_r5pr334f8ymw';
const variable = 'var_5jway327hprp';
const observation = 'shop obs_3nmck2jb7qdj';
const confirmed = 'shop obs_w76nq11epnv3';
const webhook = 'wh_s3mks0m7m9nc';
const delivery = 'dlv_3t1vj1cb3a4g';

/**
 * The arguments in the example of each derived command. The ids are from the mock's data, so each line works with
 * `rungate mock exec --`, except for the id of the API key, because the mock has no key.
 */
export const endpointExamples: Readonly<Partial<Record<EndpointName, string>>> = {
  'orders.list': '--json',
  'orders.get': 'ord_65ady0kc24sr',
  'keys.delete': 'key_123 --yes',
  'env.overview': '--json',
  'env.list': '--all',
  'env.create': '--name New --key new --base-url https://new.example.com',
  'env.update': 'staging --version 9f2c1ab',
  'env.delete': `${environment} --yes`,
  'env.vars.list': environment,
  'env.vars.create': `${environment} --field name=LOCALE --field value=de`,
  'env.vars.update': `${environment} ${variable} --field value=off`,
  'env.vars.delete': `${environment} ${variable} --yes`,
  'observations.list': 'shop --status open --page-size 5',
  'observations.get': observation,
  'observations.search': 'shop "gift cards"',
  'observations.create': 'shop --field title="Cart forgets the voucher"',
  'observations.update': `${observation} --field title="Login page"`,
  'observations.attach': `${observation} --field note="see the log"`,
  'observations.confirm': observation,
  'observations.archive': observation,
  'observations.supersede': `${observation} --field reason=newer`,
  'observations.promoteToTicket': confirmed,
  'observations.promoteToWiki': confirmed,
  'webhooks.eventTypes': '',
  'webhooks.list': '--project-id shop',
  'webhooks.create': '--project-id shop --field url=https://a.example/hook',
  'webhooks.delete': `${webhook} --yes`,
  'webhooks.rotateSecret': `${webhook} --yes`,
  'webhooks.test': webhook,
  'webhooks.deliveries.list': webhook,
  'webhooks.deliveries.get': `${webhook} ${delivery}`,
  'webhooks.deliveries.retry': `${webhook} ${delivery}`,
};
