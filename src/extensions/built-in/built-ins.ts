/**
 * The extensions that come with Drover. They use the same interface as others, and are active when they have settings.
 */
import type { Extension } from '../extension.js';

export interface BuiltIn {
  /** The id, and the folder of the settings: `extensions/<id>/config.json`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Called only when there are settings, so that an unused extension costs nothing. */
  readonly load: () => Promise<Extension>;
}

export const BUILT_INS: readonly BuiltIn[] = [
  {
    id: 'http',
    name: 'HTTP storage',
    description: 'Templates from zip and tar archives by URL and checksum',
    load: async () => (await import('./http-extension.js')).httpExtension,
  },
  {
    id: 's3',
    name: 'S3 storage',
    description: 'Templates from a bucket of any service that speaks S3',
    load: async () => (await import('./s3-storage.js')).s3Extension,
  },
];
