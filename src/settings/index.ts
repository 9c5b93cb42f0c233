export { environmentSettings, readSecret, readSecrets } from './environment.ts';
export {
  chooseProfile,
  findProjectFile,
  findRoot,
  type ProfileChoice,
  profilesPath,
} from './locate.ts';
export { defaultSettings, mergeSettings } from './merge.ts';
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
} from './names.ts';
export { policyOf } from './policy.ts';
