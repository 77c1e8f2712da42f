/** What an upload of chosen files will do to a template. Pure. */

export interface ChosenFile {
  /** The path in the person's folder, such as `config/game.yml`. */
  readonly path: string;
  readonly file: File;
}

export interface PlannedUpload extends ChosenFile {
  readonly do: 'create' | 'replace' | 'unpack';
}

interface UploadPlan {
  readonly chosen: readonly ChosenFile[];
  /** The paths that the template has. */
  readonly present: ReadonlySet<string>;
  /** The target folder inside the template; '' is the template's root. */
  readonly into: string;
  /** True: zips are unpacked. False: they are stored as files. */
  readonly unpacksZips: boolean;
}

export function planUpload({ chosen, present, into, unpacksZips }: UploadPlan): PlannedUpload[] {
  const folder = into.replace(/^\/+|\/+$/g, '');
  return chosen.map(({ path: own, file }) => {
    if (unpacksZips && isZip(own)) return { path: own, file, do: 'unpack' };
    const path = folder === '' ? own : `${folder}/${own}`;
    return { path, file, do: present.has(path) ? 'replace' : 'create' };
  });
}

export function isZip(path: string): boolean {
  return path.toLowerCase().endsWith('.zip');
}
