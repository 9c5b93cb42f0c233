import { gateName } from '../../src/gate/plan/graph.ts';
import {
  type FileId,
  fileIds,
  type GateId,
  gateIds,
  isFileId,
  rowOf,
  sentence,
} from '../../src/options/table.ts';

type JsonSchema = Record<string, unknown>;

function describedOption(id: FileId | GateId): JsonSchema {
  const row = rowOf(id);
  return { description: sentence(row), ...row.type.jsonSchema };
}

/** `webhook.timestampHeader` may also be written as `{ "webhook": { "timestampHeader": … } }`. */
function groupSchemas(): Record<string, JsonSchema> {
  const groups: Record<string, { properties: Record<string, JsonSchema> } & JsonSchema> = {};
  for (const name of fileIds) {
    const [group = '', part] = name.split('.');
    if (part === undefined) continue;
    groups[group] ??= { type: 'object', additionalProperties: false, properties: {} };
    groups[group].properties[part] = { $ref: `#/definitions/${name}` };
  }
  return groups;
}

function objectOf(names: readonly string[], more: Record<string, JsonSchema>): JsonSchema {
  return {
    type: 'object',
    additionalProperties: false,
    not: { required: ['process', 'tags'] },
    properties: {
      ...more,
      ...Object.fromEntries(names.map((name) => [name, { $ref: `#/definitions/${name}` }])),
    },
  };
}

function gateSchema(groups: readonly string[]): JsonSchema {
  const gateOnly = gateIds.filter((id) => !isFileId(id));
  const own = groups.filter((group) => gateIds.some((id) => id.startsWith(`${group}.`)));
  return objectOf(
    [...gateIds.filter(isFileId), ...own],
    Object.fromEntries(gateOnly.map((id) => [id, describedOption(id)])),
  );
}

const gates = {
  description: 'The gates that rungate gate runs, by name. The settings of this object are their defaults.',
  type: 'object',
  propertyNames: { pattern: gateName.source },
  additionalProperties: { $ref: '#/definitions/gate' },
};

/** Returns the JSON schema of `.rungate.json`, in the draft that editors support best. */
export function createSettingsSchema(): JsonSchema {
  const groups = groupSchemas();
  const names = [...fileIds, ...Object.keys(groups)];
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: '.rungate.json',
    description:
      'Settings of rungate for a project. It must not contain secrets: set those in the environment.',
    ...objectOf(names, {
      $schema: { type: 'string' },
      branches: {
        description:
          'Settings for a branch or a tag, by its name or by a pattern with *. The exact name takes precedence, then the pattern with the most characters besides *. A lone * matches every other ref.',
        type: 'object',
        propertyNames: { pattern: '\\S' },
        additionalProperties: { $ref: '#/definitions/branch' },
      },
      gates: { $ref: '#/definitions/gates' },
    }),
    definitions: {
      branch: objectOf(names, { gates: { $ref: '#/definitions/gates' } }),
      gates,
      gate: gateSchema(Object.keys(groups)),
      ...Object.fromEntries(fileIds.map((id) => [id, describedOption(id)])),
      ...groups,
    },
  };
}
