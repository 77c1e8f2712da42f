/** The named parts of the API's description: schemas that clients get types for, and the ways to authenticate. */
import type { createDocument, ZodOpenApiComponentsObject, ZodOpenApiOperationObject } from 'zod-openapi';
import {
  configurationExplanationSchema,
  instanceExplanationSchema,
  nodeExplanationSchema,
} from '../../explain/explanation.js';
import { extensionStatusSchema } from '../../extensions/extension.js';
import { auditEntrySchema } from '../../model/audit.js';
import {
  configurationFileErrorSchema,
  configurationSchema,
  portRangeSchema,
} from '../../model/configuration.js';
import { shownEventSchema } from '../../model/event.js';
import { shownExitSchema } from '../../model/exit-record.js';
import { instanceInfoSchema, instanceStateSchema } from '../../model/instance.js';
import { nodeConfigurationSchema, runtimeOfferSchema } from '../../model/node.js';
import { drainProgressSchema } from '../../model/node-drain.js';
import { shownScheduleSchema } from '../../model/schedule.js';
import {
  clusterSyncSchema,
  templateInstallationSchema,
  templateReferenceSchema,
} from '../../model/template.js';
import { clusterStatusSchema, listedNodeSchema } from '../../operations/cluster-status.js';
import { configurationDiffSchema } from '../../operations/configuration-diff.js';
import { configurationSummarySchema } from '../../operations/configuration-list.js';
import { changePlanSchema } from '../../operations/plan/change-plan.js';
import { pastContentSchema } from '../../operations/rollouts/configuration-history.js';
import { shownRolloutSchema } from '../../operations/rollouts/rollouts.js';
import type { Scope } from '../http/route.js';
import { detailSchema, summarySchema } from '../routes/cluster-routes.js';
import { configurationReloadSchema } from '../routes/configuration-file-routes.js';
import { rollbackSchema } from '../routes/configuration-history-routes.js';
import { instanceDetailsSchema } from '../routes/instances/instance-details.js';
import { joinTokenSchema } from '../routes/join-token-routes.js';
import { listedKeySchema } from '../routes/key-routes.js';
import { listedSessionSchema, whoamiSchema } from '../routes/session-routes.js';
import { ERROR_RESPONSES, errorAnswer, rateLimitAnswer } from './errors.js';
import examples from './examples.json' with { type: 'json' };

type OpenApiDocument = ReturnType<typeof createDocument>;
type Security = NonNullable<ZodOpenApiOperationObject['security']>;

const REF = /"#\/components\/schemas\/([^"]+)"/g;
/** The suffix that zod-openapi gives to the schema of answers when answers and requests of a name differ. */
const OUTPUT = 'Output';
const INPUT = 'Input';

export const COMPONENTS: ZodOpenApiComponentsObject = {
  schemas: {
    ApiError: errorAnswer,
    RateLimitError: rateLimitAnswer,
    Instance: instanceInfoSchema,
    InstanceState: instanceStateSchema,
    InstanceDetails: instanceDetailsSchema,
    InstanceExplanation: instanceExplanationSchema,
    Configuration: configurationSchema,
    ConfigurationExplanation: configurationExplanationSchema,
    ChangePlan: changePlanSchema,
    ConfigurationDiff: configurationDiffSchema,
    ConfigurationFileError: configurationFileErrorSchema,
    ConfigurationReload: configurationReloadSchema,
    PastContent: pastContentSchema,
    Rollback: rollbackSchema,
    Rollout: shownRolloutSchema,
    Schedule: shownScheduleSchema,
    ConfigurationSummary: configurationSummarySchema,
    PortRange: portRangeSchema,
    ClusterNode: summarySchema,
    ListedNode: listedNodeSchema,
    ClusterNodeDetail: detailSchema,
    ClusterNodeExplanation: nodeExplanationSchema,
    ClusterStatus: clusterStatusSchema,
    DrainProgress: drainProgressSchema,
    TemplateSync: clusterSyncSchema,
    TemplateReference: templateReferenceSchema,
    TemplateInstallation: templateInstallationSchema,
    NodeConfiguration: nodeConfigurationSchema,
    RuntimeOffer: runtimeOfferSchema,
    JoinToken: joinTokenSchema,
    Key: listedKeySchema,
    Session: listedSessionSchema,
    Caller: whoamiSchema,
    Extension: extensionStatusSchema,
    AuditEntry: auditEntrySchema,
    Event: shownEventSchema,
    Exit: shownExitSchema,
  },
  responses: ERROR_RESPONSES,
  securitySchemes: {
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      description:
        'A key made by `POST /keys` or `key create <label> <scope>`, or the token of a session made by ' +
        '`POST /sessions`. `x-scope` of the operation is the least scope: PUBLIC, READ, PLAN, OPERATE and ALL include those before ' +
        'them. ' +
        'A browser, which can set no header on a WebSocket, offers it as a subprotocol instead.',
    },
    instanceKey: {
      type: 'http',
      scheme: 'bearer',
      description:
        'The key that an instance finds in its environment as DROVER_API_KEY: for its own state only.',
    },
  },
};

/** Examples, by the name of the schema in the finished document. */
const EXAMPLES: Readonly<Record<string, unknown>> = examples;

/** The schemes that open an operation. The scope stands beside them: linters know roles for OAuth only. */
export function securityOf(scope: Scope): Security {
  if (scope === 'open') return [];
  return scope === 'instance-or-OPERATE' ? [{ apiKey: [] }, { instanceKey: [] }] : [{ apiKey: [] }];
}

/**
 * Finishes the components: puts schemas in order, adds examples, and leaves out error responses that no operation uses.
 * Where defaults make answers and requests differ, the schema of answers gets the plain name, and the schema of
 * requests `<name>Input`.
 */
export function finishComponents(document: OpenApiDocument): unknown {
  const schemas = document.components?.schemas ?? {};
  const configuration = schemas.Configuration;
  // The path of a PUT stands for the name.
  if (configuration !== undefined && 'required' in configuration)
    configuration.required = configuration.required?.filter((field) => field !== 'name');
  const names = new Map<string, string>();
  for (const name of Object.keys(schemas)) {
    if (!Object.hasOwn(schemas, name + OUTPUT)) continue;
    names.set(name, name + INPUT);
    names.set(name + OUTPUT, name);
  }
  const renamed = Object.entries(schemas)
    .map(([name, schema]) => [names.get(name) ?? name, schema] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => [name, name in EXAMPLES ? { ...schema, examples: [EXAMPLES[name]] } : schema]);
  const used = JSON.stringify(document.paths);
  const responses = Object.entries(document.components?.responses ?? {}).filter(([name]) =>
    used.includes(`"#/components/responses/${name}"`),
  );
  const components = {
    ...document.components,
    schemas: Object.fromEntries(renamed),
    responses: Object.fromEntries(responses),
  };
  const text = JSON.stringify({ ...document, components });
  return JSON.parse(
    text.replace(REF, (_match, name: string) => `"#/components/schemas/${names.get(name) ?? name}"`),
  );
}
