/**
 * Tells which templates git owns, and what it says of them. Where git tracks files of `templates/`, Drover writes no
 * template there, except those that git ignores.
 */
import { ContentOrigins } from '../../git/content-origins.js';
import { isTracked, templateOriginsOf } from '../../git/git-origins.js';
import { git } from '../../git/git-program.js';
import type { NewestCommit } from '../../git/newest-commit.js';
import { DroverError } from '../../model/errors.js';
import type { ConfigurationWrites } from '../../model/plain/configuration-writes.js';
import { templatePath } from '../../model/plain/template-fault.js';
import type { TemplateRecord } from '../../model/template.js';
import type { Logger } from '../../telemetry/logger.js';
import type { SideOrder } from '../../views/view.js';
import { checkTemplateName } from '../tree/file-path.js';

interface GitTemplatesOptions {
  readonly nodeId: string;
  /** Absolute path of `templates/`. */
  readonly directory: string;
  /** The setting; only `file` lets Drover write what git tracks. */
  readonly writes?: ConfigurationWrites | undefined;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

type Reading = { readonly kind: 'valid'; readonly signature: string };

export class GitTemplates {
  /** The origins of whole templates, by `<group>/<name>`. */
  readonly origins: ContentOrigins;
  readonly #options: GitTemplatesOptions;
  #isOwner = false;
  #readings: ReadonlyMap<string, Reading> = new Map();
  #ignored: ReadonlySet<string> = new Set();

  constructor(options: GitTemplatesOptions) {
    this.#options = options;
    this.origins = new ContentOrigins(options.directory, options.logger, templateOriginsOf);
  }

  /** Decides who owns the directory, and says it. Called once, before the first template is read. */
  async start(): Promise<void> {
    const { directory, writes, logger } = this.#options;
    this.#isOwner = writes !== 'file' && (await isTracked(directory, logger));
    if (this.#isOwner)
      logger.info(`${directory}: changes of templates through the API are refused (git tracks its files)`);
  }

  /** From now on the order of commits is known. Called when other masters bring templates, too. */
  followCommits(newest: NewestCommit): void {
    if (this.#isOwner) this.origins.followCommits(newest);
  }

  /** True for a template that Drover never writes. */
  owns(name: string): boolean {
    return this.#isOwner && !this.#ignored.has(name);
  }

  /** The order of a template here and its record. Undefined: Drover writes the template. */
  orderOf(name: string, here: string | undefined, record: TemplateRecord | undefined): SideOrder | undefined {
    if (!this.owns(name)) return undefined;
    const inForce = record && { hash: record.digest, commit: record.commit };
    return this.origins.orderOf(name, here, inForce);
  }

  /** Asks git about templates that were read. `head`: the commit before that. `others`: templates of other masters. */
  async look(
    digests: ReadonlyMap<string, string | null>,
    others: Iterable<string>,
    head: string | undefined,
  ): Promise<void> {
    if (!this.#isOwner) return;
    const readings = new Map<string, Reading>();
    for (const [name, signature] of digests)
      if (signature !== null) readings.set(name, { kind: 'valid', signature });
    await this.origins.look(readings, this.#readings, head);
    this.#readings = readings;
    this.#ignored = await this.#ignoredAmong([...new Set([...digests.keys(), ...others])]);
  }

  /** Throws DRV_TEMPLATE_OWNED for a template that only git may change. `record`: what masters have agreed on. */
  async requireWritable(group: string, name: string, record: TemplateRecord | undefined): Promise<void> {
    checkTemplateName(group, name);
    const { directory, nodeId, writes } = this.#options;
    const key = `${group}/${name}`;
    const isOurs = this.#isOwner && !(await this.#ignoredAmong([key])).has(key);
    if (!isOurs && (record?.commit === undefined || writes === 'file')) return;
    const head = await git(directory, 'rev-parse', 'HEAD').catch(() => '');
    const { sourceNode, commit } = isOurs ? { sourceNode: nodeId, commit: head.trim() } : (record ?? {});
    throw new DroverError(
      'DRV_TEMPLATE_OWNED',
      `template ${key} is changed in ${templatePath(key)} of node ${sourceNode} (in git, at commit ${commit}) and nowhere else: commit the change and pull it there, or set configurationWrites in config.json to "file"`,
    );
  }

  /** The templates that git ignores, and of which it tracks no file. Empty where git does not answer. */
  async #ignoredAmong(names: readonly string[]): Promise<ReadonlySet<string>> {
    const { directory } = this.#options;
    // Ask for a file in each: a template that is not there yet would not count as a directory.
    const files = names.map((name) => `${name}/drover`);
    try {
      const said = await git(directory, '--no-literal-pathspecs', 'check-ignore', '--', ...files);
      const ignored = said.split('\n').map((file) => file.split('/', 2).join('/'));
      const tracked = await git(directory, 'ls-files', '-z', '--', ...ignored.slice(0, -1));
      return new Set(ignored.filter((name) => !`\0${tracked}`.includes(`\0${name}/`)));
    } catch {
      // Git also ends so when it ignores none.
      return new Set();
    }
  }
}
