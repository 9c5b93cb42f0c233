// Replaces ajv, ajv-formats and semver in conf, which uses them only for stores with a schema or with migrations.
// rungate has no such store, and they made up an eighth of the package.
export const Ajv2020 = undefined;
export default undefined;
