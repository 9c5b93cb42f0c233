export { environmentSettings, readSecret, readSecrets } from './settings/environment.ts';
export {
  chooseProfile,
  findProjectFile,
  findRoot,
  type ProfileChoice,
  profilesPath,
} from './settings/locate.ts';
export { defaultSettings, mergeSettings } from './settings/merge.ts';
export {
  type Origin,
  origins,
  type PlainName,
  type SecretName,
  type Setting,
  type SettingName,
  type Settings,
  type SettingValues,
  type Source,
  secretNames,
} from './settings/names.ts';
export { policyOf } from './settings/policy.ts';
