import { readDuration } from '../duration.ts';
import { UsageError } from '../errors.ts';
import { echoed } from '../suggest.ts';
import { jsonResponse, MockError, type RawResponse, textResponse } from './response.ts';

/** The target of faults of the version page, which is not part of the API. */
export const versionTarget = 'deployed';

const path = '/_mock/version';

/** The versions from a time on. Several alternate, as behind a load balancer during a roll-out. */
interface VersionStep {
  /** Milliseconds since the mock started. */
  readonly fromMs: number;
  readonly versions: readonly string[];
}

/** `old,new@30s` changes after 30 s, and `old/new` alternates from request to request. @throws UsageError */
export function parseDeployed(text: string): VersionStep[] {
  const steps = text.split(',').map((part): VersionStep => {
    const at = part.lastIndexOf('@');
    const fromMs = at < 0 ? 0 : readDuration(part.slice(at + 1));
    const versions = (at < 0 ? part : part.slice(0, at)).split('/').map((version) => version.trim());
    if (fromMs !== null && versions.every((version) => version !== '')) return { fromMs, versions };
    throw new UsageError(`--deployed: ${echoed(part)} is not a version`, {
      hint: 'write <version>[@<duration>], separated by commas, such as old,new@30s; old/new alternates',
    });
  });
  if (steps.every(({ fromMs }, index) => fromMs > (steps[index - 1]?.fromMs ?? -1))) return steps;
  throw new UsageError('--deployed: the versions are not in the order of their times', {
    hint: 'every version except the first needs a later time: old,new@30s',
  });
}

/** The page that shows which version is deployed, as text or as JSON. */
export class DeployedVersions {
  #steps: readonly VersionStep[];
  #requests = 0;
  readonly #startedAt: number;
  readonly #now: () => number;

  /** @param now the mock's clock in milliseconds */
  constructor(deployed: string | undefined, now: () => number) {
    this.#now = now;
    this.#startedAt = now();
    this.#steps = deployed === undefined ? [] : parseDeployed(deployed);
  }

  /** Shows other versions, from now on; times count from now. */
  deploy(deployed: string): void {
    const elapsed = this.#now() - this.#startedAt;
    this.#steps = parseDeployed(deployed).map((step) => ({ ...step, fromMs: step.fromMs + elapsed }));
  }

  /** Whether there is a page, and the path is its own. */
  owns(requested: string): boolean {
    return this.#steps.length > 0 && (requested === path || requested === `${path}.json`);
  }

  respond(requested: string, method: string): RawResponse {
    if (method !== 'GET')
      throw new MockError(405, 'Method not allowed', `${path} allows only GET`, { allow: 'GET' });
    const elapsed = this.#now() - this.#startedAt;
    const versions = this.#steps.findLast(({ fromMs }) => fromMs <= elapsed)?.versions;
    if (versions === undefined) throw new MockError(503, 'Not deployed', 'no version is deployed yet');
    const version = versions[this.#requests % versions.length] ?? '';
    this.#requests += 1;
    return requested.endsWith('.json')
      ? jsonResponse(200, { version })
      : textResponse(200, `${version}\n`, {
          'content-type': 'text/plain; charset=utf-8',
        });
  }
}

export const versionUrl = (mockUrl: string): string => `${mockUrl}${path}`;
