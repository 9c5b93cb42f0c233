import { exitCodes } from '../../exit.ts';
import { jsonFor } from '../../options/read.ts';
import { fileIds, isFileId, isSecretId, secretIds } from '../../options/table.ts';
import { wantsJson } from '../../output/json.ts';
import { excerpt, sanitize } from '../../sanitize.ts';
import { shownValue } from '../../settings/fields.ts';
import { policySettings } from '../../settings/merge.ts';
import type { Provenance, Setting, SettingName, Settings, SettingValues } from '../../settings/names.ts';
import { gate } from '../gate/gate.ts';
import { command } from '../spec.ts';
import { profilesFile, settingIds, settingName } from './change.ts';

/** Returns a value as the JSON of a file, as it may be shown; null if it is not set. Never called for a secret. */
function jsonValue(settings: Settings, name: SettingName): unknown {
  const setting: Setting<SettingValues[SettingName]> | undefined = settings[name];
  return setting === undefined || !isFileId(name)
    ? null
    : shownValue(name, jsonFor(name, setting.value as never));
}

/** Returns one setting for `--json`. For a secret, only whether it is set. */
function describedSetting(settings: Settings, name: SettingName) {
  const setting = settings[name];
  const from = { origin: setting?.origin ?? null, detail: setting?.detail ?? null };
  return isSecretId(name)
    ? { set: setting !== undefined, ...from }
    : { value: jsonValue(settings, name), ...from };
}

function commandLineText(value: unknown): string {
  if (value === null) return '';
  if (value === Number.POSITIVE_INFINITY) return 'no limit';
  if (Array.isArray(value)) return value.join(',');
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map((pair) => pair.join('='))
    .join(',');
}

function settingCell(settings: Settings, name: SettingName): string {
  if (!isSecretId(name)) return excerpt(commandLineText(jsonValue(settings, name)));
  return settings[name] === undefined ? 'not set' : 'set';
}

/** Returns the settings as `rungate gate` has them, whose defaults are stricter than those of `run wait`. */
function settingsOfGate(settings: Settings): Settings {
  const present: Readonly<Record<string, Provenance | undefined>> = settings;
  const defaults = Object.entries(gate.defaults ?? {}).flatMap(([name, value]) =>
    (present[name]?.origin ?? 'default') === 'default' ? [[name, { value, origin: 'default' }]] : [],
  );
  return { ...settings, ...Object.fromEntries(defaults) };
}

const describedPolicy = (settings: Settings) =>
  Object.fromEntries(
    Object.entries(policySettings(settings)).map(([verdict, { value, origin, detail = null }]) => [
      verdict,
      { action: value, origin, detail },
    ]),
  );

/** A row of the table, before its source is known to be of interest. */
type Cells = readonly [name: string, value: string, from: Partial<Provenance>];

const cellsOf = (settings: Settings): Cells[] => [
  ...settingIds.map((name): Cells => [name, settingCell(settings, name), settings[name] ?? {}]),
  ...Object.entries(policySettings(settings)).map(
    ([verdict, setting]): Cells => [`on ${verdict}`, setting.value, setting],
  ),
];

export const configList = command({
  name: 'list',
  summary: 'show the settings and where they come from',
  description: 'Show the settings that are set, and where they come from. A secret is shown only as "set".',
  options: {
    '--all': 'also show the defaults of the other settings, as --json always does',
    '--ref <ref>': 'the branch or tag to show the settings for',
  },
  examples: ['rungate config list', 'rungate config list --all'],
  async run({ settings, sources, output }, _args, { all = false }) {
    for (const { name, origin } of sources.withheld) {
      await output.alert(`${name} in the profile is not used: it was saved for ${sanitize(origin)}`);
    }
    const { profile, projectFile } = sources;
    const ofGate = settingsOfGate(settings);
    const report = {
      schemaVersion: 1,
      profile: profile.name,
      profilesFile: sources.profilesFile,
      projectFile,
      settings: Object.fromEntries(settingIds.map((name) => [name, describedSetting(settings, name)])),
      policy: describedPolicy(settings),
      gatePolicy: describedPolicy(ofGate),
    };
    const inGate = cellsOf(ofGate);
    const cells = cellsOf(settings).flatMap((row, at): Cells[] => {
      const [name, value, from] = row;
      const [, gateValue, gateFrom] = inGate[at] ?? row;
      if (value === gateValue) return [row];
      return [
        [`${name} (gate)`, gateValue, gateFrom],
        [`${name} (run wait)`, value, from],
      ];
    });
    const rows = cells
      .filter(([, , { origin }]) => all || (origin !== undefined && origin !== 'default'))
      .map(([name, value, { origin, detail }]) => [name, value, origin ?? '', excerpt(detail ?? '', 500)]);
    const isEmpty = rows.length === 0 && !wantsJson(output);
    if (!isEmpty) await output.data(report, { head: ['SETTING', 'VALUE', 'ORIGIN', 'WHERE'], rows });
    const others = isEmpty
      ? 'nothing is set, so the defaults apply'
      : 'the other settings have their defaults';
    if (!all && !wantsJson(output)) await output.note(`${others}; to show them, add --all`);
    return exitCodes.ok;
  },
});

export const configGet = command({
  name: 'get',
  summary: 'show one setting',
  description: 'Show the value of one setting, whatever its source. Prints nothing if it is not set.',
  args: {
    '<name>': { help: 'a setting, such as project or timeout', completes: [...fileIds, ...secretIds] },
  },
  options: { '--ref <ref>': 'the branch or tag to show the setting for' },
  examples: ['rungate config get interval'],
  async run({ settings, output }, args) {
    const name = settingName(args.name);
    if (settings[name] === undefined && !isSecretId(name) && !wantsJson(output)) {
      await output.note(`${name} is not set`);
      return exitCodes.ok;
    }
    const text = isSecretId(name)
      ? settingCell(settings, name)
      : sanitize(commandLineText(jsonValue(settings, name)));
    await output.data({ schemaVersion: 1, name, ...describedSetting(settings, name) }, `${text}\n`);
    return exitCodes.ok;
  },
});

export const configPath = command({
  name: 'path',
  summary: 'show where profiles are stored',
  description: 'Show the path of the profiles file.',
  examples: ['rungate config path'],
  newProfile: true,
  async run(context) {
    const path = profilesFile(context);
    const { profile, projectFile } = context.sources;
    const report = { schemaVersion: 1, profile: profile.name, profilesFile: path, projectFile };
    await context.output.data(report, `${sanitize(path)}\n`);
    return exitCodes.ok;
  },
});
