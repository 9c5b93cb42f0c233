import { plainNames, settingsTable } from './table.ts';

type Schema = Record<string, unknown>;

function described(name: (typeof plainNames)[number]): Schema {
  const { kind, about } = settingsTable[name];
  return { description: about, ...kind.schema };
}

/** `webhook.timestampHeader` may also be written as `{ "webhook": { "timestampHeader": … } }`. */
function groupSchemas(): Record<string, Schema> {
  const groups: Record<string, { properties: Record<string, Schema> } & Schema> = {};
  for (const name of plainNames) {
    const [group = '', part] = name.split('.');
    if (part === undefined) continue;
    groups[group] ??= { type: 'object', additionalProperties: false, properties: {} };
    groups[group].properties[part] = { $ref: `#/definitions/${name}` };
  }
  return groups;
}

function objectOf(more: Record<string, Schema> = {}): Schema {
  const names = Object.keys(groupSchemas());
  return {
    type: 'object',
    additionalProperties: false,
    not: { required: ['process', 'tags'] },
    properties: {
      ...more,
      ...Object.fromEntries(
        [...plainNames, ...names].map((name) => [name, { $ref: `#/definitions/${name}` }]),
      ),
    },
  };
}

/** The JSON schema of `.rungate.json`, in the draft that editors know best. */
export function createSettingsSchema(): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: '.rungate.json',
    description: 'Settings of rungate for a project. No secrets: those go into the environment.',
    ...objectOf({
      $schema: { type: 'string' },
      branches: {
        description:
          'Settings for a branch or a tag, by its name or by a pattern with *. The exact name comes first, then the pattern with the most characters besides *; * alone is everything else.',
        type: 'object',
        propertyNames: { pattern: '\\S' },
        additionalProperties: { $ref: '#/definitions/branch' },
      },
    }),
    definitions: {
      action: { enum: ['pass', 'warn', 'fail'] },
      branch: objectOf(),
      ...Object.fromEntries(plainNames.map((name) => [name, described(name)])),
      ...groupSchemas(),
    },
  };
}
