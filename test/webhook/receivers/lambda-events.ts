/**
 * The three kinds of HTTP events of Lambda, made by hand after AWS's developer guides: "Input format of a Lambda function
 * for proxy integration" (REST APIs), "Create AWS Lambda proxy integrations for HTTP APIs" (payload 2.0, also for function
 * URLs), "Use Lambda functions as targets of an Application Load Balancer".
 */
type Pairs = readonly (readonly [string, string])[];

interface EventBody {
  body: string | null;
  isBase64Encoded: boolean;
}

const grouped = (pairs: Pairs, name: (given: string) => string) => {
  const groups: Record<string, string[]> = {};
  for (const [key, value] of pairs) groups[name(key)] = [...(groups[name(key)] ?? []), value];
  return groups;
};
const mapped = (groups: Record<string, string[]>, one: (values: string[]) => string) =>
  Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, one(values)]));
const lower = (name: string) => name.toLowerCase();

/** REST API: keeps the case of names; `headers` has the last value of each; a missing body is null. */
export function restEvent(pairs: Pairs, eventBody: EventBody) {
  const groups = grouped(
    [['Accept', '*/*'], ['X-Forwarded-For', '203.0.113.7, 198.51.100.2'], ...pairs],
    (name) => name,
  );
  return {
    resource: '/hook',
    path: '/hook',
    httpMethod: 'POST',
    headers: mapped(groups, (values) => values.at(-1) ?? ''),
    multiValueHeaders: groups,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: null,
    stageVariables: null,
    requestContext: {
      accountId: '123456789012',
      apiId: 'abc',
      httpMethod: 'POST',
      stage: 'prod',
      protocol: 'HTTP/1.1',
    },
    ...eventBody,
  };
}

/** HTTP API (payload 2.0) and function URL: names in lower case, values joined by commas, no field for a missing body. */
export function urlEvent(pairs: Pairs, { body, isBase64Encoded }: EventBody) {
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: '/hook',
    rawQueryString: '',
    headers: mapped(grouped([['accept', '*/*'], ...pairs], lower), (values) => values.join(',')),
    requestContext: {
      accountId: '123456789012',
      http: { method: 'POST', path: '/hook', protocol: 'HTTP/1.1' },
    },
    ...(body === null ? {} : { body }),
    isBase64Encoded,
  };
}

/** Load balancer with multi-value headers enabled: `multiValueHeaders` replaces `headers`. */
export function balancerEvent(pairs: Pairs, { body, isBase64Encoded }: EventBody) {
  return {
    requestContext: {
      elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/a/b' },
    },
    httpMethod: 'POST',
    path: '/hook',
    multiValueHeaders: grouped([['accept', '*/*'], ...pairs], lower),
    body: body ?? '',
    isBase64Encoded,
  };
}
