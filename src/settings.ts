export { environmentSettings, readSecret, readSecrets } from './settings/environment.ts';
export { defaultSettings, mergeSettings } from './settings/merge.ts';
export {
  type Origin,
  origins,
  type Setting,
  type SettingName,
  type Settings,
  type SettingValues,
  type Source,
} from './settings/names.ts';
