import { byId, type Draw, drawer, seededIds } from '../random.ts';

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
  name: string | null | undefined;
  key: string | null | undefined;
  baseUrl: string | null | undefined;
  providerModel: string | null | undefined;
  version: string | null | undefined;
  mobileRuntimeOverrides: Readonly<Record<string, unknown>> | null | undefined;
  readonly createdAt: string;
  updatedAt: string;
  readonly variables: Map<string, StoredVariable>;
}

/** The first environments; further ones are previews of pull requests. */
const names =
  'Staging, Production EU, Production US, QA, Load test, Développement, Android: Pixel 8, Android: Galaxy S23, iOS: iPhone 15, Demo'.split(
    ', ',
  );

/** Returns the key for a name: `développement 2` → `developpement-2`. */
export function keyFrom(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{Mark}/gu, '');
  return plain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

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

const models = ['large-2', 'large-2', 'small-3'];

const variables: readonly { name: string; value: (draw: Draw) => string; secret: boolean }[] = [
  { name: 'FEATURE_FLAGS', value: () => 'new-checkout,gift-cards', secret: false },
  { name: 'DB_PASSWORD', value: (draw) => draw.id(20), secret: true },
  { name: 'DEFAULT_LOCALE', value: (draw) => draw.pick(['en-GB', 'de-DE', 'ja-JP']), secret: false },
  { name: 'PAYMENT_API_TOKEN', value: (draw) => draw.id(32), secret: true },
  { name: 'TEST_USER', value: (draw) => `user-${draw.whole(1, 99)}@example.test`, secret: false },
];

function makeVariables(draw: Draw, nextId: () => string, at: string): Map<string, StoredVariable> {
  const count = draw.whole(2, variables.length);
  const list = variables.slice(0, count).map(
    ({ name, value, secret }): StoredVariable => ({
      id: nextId(),
      name,
      value: value(draw),
      secret,
      createdAt: at,
      updatedAt: at,
    }),
  );
  return byId(list);
}

/** Returns environments in order of creation. */
export function makeEnvironments(seed: number, count: number, until: number): StoredEnvironment[] {
  const nextId = seededIds(seed, 'env');
  const nextVariableId = seededIds(seed, 'var');
  const drawAt = drawer(seed, 'environments');
  const versionAt = drawer(seed, 'environment versions');
  return Array.from({ length: count }, (_, index): StoredEnvironment => {
    const draw = drawAt(index);
    const drawVersion = versionAt(index);
    const name = names[index] ?? `Preview of pull request ${1200 + index}`;
    const key = keyFrom(name).replace('-of-pull-request-', '-pr-');
    const device = devices[key] ?? null;
    const at = new Date(until - (count - index) * 43_200_000).toISOString();
    return {
      id: nextId(),
      name,
      key,
      baseUrl: device === null ? `https://${key}.shop.example.test` : undefined,
      providerModel: draw.pick(models),
      version: `2.${drawVersion.whole(0, 14)}.${drawVersion.whole(0, 9)}`,
      mobileRuntimeOverrides: device,
      createdAt: at,
      updatedAt: at,
      variables: makeVariables(draw, nextVariableId, at),
    };
  });
}
