import { byId, type Choices, type Draw, drawer, seededIds } from '../random.ts';

export interface StoredVariable {
  readonly id: string;
  name: string;
  /** The full value; the value of a secret variable is masked in responses. */
  value: string;
  secret: boolean;
  readonly createdAt: string;
  updatedAt: string;
}

export interface StoredEnvironment {
  readonly id: string;
  name: string | null;
  key: string | null;
  baseUrl: string | null | undefined;
  providerModel: string | null | undefined;
  version: string | null | undefined;
  mobileRuntimeOverrides: Readonly<Record<string, unknown>> | null;
  readonly createdAt: string;
  updatedAt: string;
  readonly variables: Map<string, StoredVariable>;
  /** Fields from a request that the API does not describe. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** Names and keys of the first environments; further ones are previews of pull requests. */
const fixed: readonly (readonly [name: string, key: string])[] = [
  ['Staging', 'staging'],
  ['Production EU', 'production-eu'],
  ['Production US', 'production-us'],
  ['QA', 'qa'],
  ['Load test', 'load-test'],
  ['Développement', 'developpement'],
  ['Android: Pixel 8', 'android-pixel-8'],
  ['Android: Galaxy S23', 'android-galaxy-s23'],
  ['iOS: iPhone 15', 'ios-iphone-15'],
  ['Demo for sales', 'demo'],
];

const devices: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'android-pixel-8': {
    deviceName: 'Pixel 8',
    udid: 'emulator-5554',
    androidAppPackage: 'com.example.shop',
    androidAppActivity: '.MainActivity',
  },
  'android-galaxy-s23': {
    deviceName: 'Galaxy S23',
    udid: 'R5CW31ABCDE',
    androidAppPackage: 'com.example.shop',
    androidAppActivity: '.MainActivity',
  },
  'ios-iphone-15': { deviceName: 'iPhone 15', udid: '00008120-0012345678901234' },
};

const models: Choices<string> = ['large-2', 'large-2', 'small-3'];

const variables: Choices<{ name: string; value: (draw: Draw) => string; secret: boolean }> = [
  { name: 'FEATURE_FLAGS', value: () => 'new-checkout,gift-cards', secret: false },
  { name: 'DB_PASSWORD', value: (draw) => draw.id(20), secret: true },
  { name: 'DEFAULT_LOCALE', value: (draw) => draw.pick(['en-GB', 'de-DE', 'ja-JP']), secret: false },
  { name: 'PAYMENT_API_TOKEN', value: (draw) => draw.id(32), secret: true },
  { name: 'TEST_USER', value: (draw) => `user-${draw.whole(1, 99)}@example.test`, secret: false },
];

/** Returns key and version at an index, so that observations can refer to an environment without creating it. */
export function environmentTag(seed: number): (index: number) => { key: string; version: string } {
  const drawAt = drawer(seed, 'environment versions');
  return (index) => {
    const draw = drawAt(index);
    const key = fixed[index]?.[1] ?? `preview-pr-${1200 + index}`;
    return { key, version: `2.${draw.whole(0, 14)}.${draw.whole(0, 9)}` };
  };
}

function makeVariables(draw: Draw, id: (index: number) => string, at: string): Map<string, StoredVariable> {
  const count = draw.whole(2, variables.length);
  const list = variables.slice(0, count).map(
    ({ name, value, secret }, index): StoredVariable => ({
      id: id(index),
      name,
      value: value(draw),
      secret,
      createdAt: at,
      updatedAt: at,
    }),
  );
  return byId(list);
}

function emptyEnvironment(id: string, key: string, until: number): StoredEnvironment {
  const at = new Date(until).toISOString();
  return {
    ...{ id, name: key, key, baseUrl: undefined, providerModel: undefined, version: undefined },
    ...{ mobileRuntimeOverrides: null, createdAt: at, updatedAt: at, variables: new Map(), others: {} },
  };
}

/** Returns environments by id, in order of creation. Those with an added key are empty, and the last. */
export function makeEnvironments(
  seed: number,
  count: number,
  until: number,
  addedKeys: readonly string[] = [],
): Map<string, StoredEnvironment> {
  const ids = seededIds(seed, 'env');
  const variableIds = seededIds(seed, 'var');
  const drawAt = drawer(seed, 'environments');
  const tagAt = environmentTag(seed);
  const list = Array.from({ length: count }, (_, index): StoredEnvironment => {
    const draw = drawAt(index);
    const { key, version } = tagAt(index);
    const device = devices[key] ?? null;
    const at = new Date(until - (count - index) * 43_200_000).toISOString();
    return {
      id: ids.at(index),
      name: fixed[index]?.[0] ?? `Preview of pull request ${1200 + index}`,
      key,
      baseUrl: device === null ? `https://${key}.shop.example.test` : undefined,
      providerModel: draw.pick(models),
      version,
      mobileRuntimeOverrides: device,
      createdAt: at,
      updatedAt: at,
      variables: makeVariables(draw, (nth) => variableIds.at(index * variables.length + nth), at),
      others: {},
    };
  });
  const isNew = (key: string) => list.every((environment) => environment.key !== key);
  const added = [...new Set(addedKeys)].filter(isNew);
  return byId([...list, ...added.map((key, nth) => emptyEnvironment(ids.at(count + nth), key, until))]);
}
