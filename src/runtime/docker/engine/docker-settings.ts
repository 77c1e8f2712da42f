/** Reads and checks what a configuration says of its container in `properties`, before the engine is asked. */
import { z } from 'zod';
import { startFailed } from '../../failures.js';
import type { StartSpec } from '../../runtime.js';

/**
 * An image as registries name it: `[host[:port]/]path[:tag][@digest]`. Stricter than needed, at no cost: no text
 * that could change the path of a request passes.
 */
const IMAGE = /^(?!.*(?:\.\.|\/\/))[a-z0-9][\w.:/@-]{0,254}$/i;
const NETWORK = /^[a-zA-Z0-9][\w.-]{0,127}$/;

/** Where a container finds its working directory, unless the property dockerWorkdir says otherwise. */
export const DEFAULT_WORKDIR = '/data';

const settingsSchema = z.object({
  dockerNetwork: z.string().regex(NETWORK, 'must be bridge, host, or the name of a network').optional(),
  dockerUser: z
    .string()
    .regex(/^[\w.-]{1,64}(:[\w.-]{1,64})?$/, 'must be a user or user:group')
    .optional(),
  dockerWorkdir: z
    .string()
    .regex(/^(?!.*(?:^|\/)\.\.(?:\/|$))\/[^\0]+$/, 'must be an absolute path below /')
    .default(DEFAULT_WORKDIR),
  dockerPull: z.enum(['missing', 'always', 'never'], 'must be missing, always or never').default('missing'),
  dockerEntrypoint: z.enum(['shell', 'image'], 'must be shell or image').default('shell'),
});

export interface DockerSettings extends Readonly<z.output<typeof settingsSchema>> {
  /** The image, always with a tag or digest: without either an engine would pull every tag. */
  readonly image: string;
}

/** Reads the settings of a start. Throws DRV_RUNTIME_START_FAILED, naming the property. */
export function readDockerSettings({ properties = {}, environment }: StartSpec): DockerSettings {
  const settings = settingsSchema.safeParse(properties);
  if (!settings.success) {
    const { path, message } = settings.error.issues[0] ?? { path: [], message: 'is not valid' };
    const name = path.join('.');
    throw startFailed(`property ${name} ${message}, is "${String(properties[name]).slice(0, 100)}"`);
  }
  return { ...settings.data, image: imageOf(properties, environment) };
}

function imageOf(
  properties: Readonly<Record<string, string>>,
  environment: StartSpec['environment'],
): string {
  const given = properties.image || environment.CUSTOM_IMAGE;
  if (given === undefined || given === '')
    throw startFailed(
      'no container image is configured: set properties.image or environmentVariables.CUSTOM_IMAGE, e.g. "debian:12"',
    );
  if (!IMAGE.test(given))
    throw startFailed(`image "${given.slice(0, 100)}" is not the name of a container image`);
  return withTag(given);
}

/** Adds `latest` when there is neither a tag nor a digest. A colon before the last slash belongs to a port. */
function withTag(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  return /[:@]/.test(name) || image.includes('@') ? image : `${image}:latest`;
}
