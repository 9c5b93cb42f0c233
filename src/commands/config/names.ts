import { UsageError } from '../../errors.ts';
import { excerpt } from '../../sanitize.ts';
import { isSecretName } from '../../settings/fields.ts';
import { type SettingName, secretNames } from '../../settings/names.ts';
import { isPlainName, plainNames } from '../../settings/table.ts';
import { echoed, nearest } from '../../suggest.ts';

export const allNames: readonly SettingName[] = [...plainNames, ...secretNames];

export function isSecret(name: SettingName): boolean {
  return (secretNames as readonly string[]).includes(name);
}

/** The setting of that name, secrets too. @throws UsageError that names the nearest one */
export function settingName(text: string): SettingName {
  const found = allNames.find((name) => name === text);
  if (found !== undefined) return found;
  const near = nearest(text, allNames);
  throw new UsageError(`there is no setting ${echoed(text)}`, {
    hint: near === null ? `the settings are ${plainNames.join(', ')}` : `did you mean ${near}?`,
  });
}

/** A setting that may be written by hand, as secrets are not. */
export function plainName(text: string): (typeof plainNames)[number] {
  if (isPlainName(text)) return text;
  if (isSecretName(text)) {
    throw new UsageError('a secret is no setting: on the command line every process can read it', {
      hint: 'type or pipe it: rungate login --api-key, --token, --webhook-secret or --tenant-secret',
    });
  }
  settingName(text);
  throw new UsageError(`"${excerpt(text, 60)}" cannot be set`);
}
