// Takes the place of ajv, ajv-formats and semver in conf, which uses them for a store with a schema or with migrations alone.
// No store of rungate has either, and they were an eighth of the package.
export const Ajv2020 = undefined;
export default undefined;
