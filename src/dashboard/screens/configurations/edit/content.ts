/** Reads, judges and writes the content of a configuration over the API. */

import type { BrokenText } from '../../../../model/configuration.js';
import type { ConfigurationContent, JudgedText } from '../../../../operations/configuration-content.js';
import type { ChangePlan } from '../../../../operations/plan/change-plan.js';
import { type Api, apiPath, ifThere } from '../../../api/api-client.js';
import type { Stored } from '../../../parts/editor/edited-text.js';
import type { TextStore } from '../../../parts/editor/editing.js';
import type { SchemaSource } from '../../../parts/editor/json-schema.js';
import { textOf } from '../examples.js';

export interface StoredContent extends Stored {
  readonly fileState: ConfigurationContent['fileState'];
  readonly file: string;
  /** The fault of a broken file. */
  readonly error: BrokenText['error'] | null;
}

export class ContentCalls implements TextStore {
  readonly #api: Api;
  readonly #name: string;
  readonly #path: string;

  constructor(api: Api, name: string) {
    this.#api = api;
    this.#name = name;
    this.#path = apiPath('configurations', name);
  }

  /** Reads the content, or the text of its broken file; null: there is no such configuration. Throws ApiFailure. */
  async read(): Promise<StoredContent | null> {
    const answer = await ifThere(this.#api.get<ConfigurationContent>(`${this.#path}/file`));
    if (answer === null || answer.fileState === 'broken') {
      const broken = await ifThere(this.#api.get<BrokenText>(`${this.#path}/broken-file`));
      if (broken !== null) return { ...broken, fileState: 'broken' };
    }
    if (answer === null) return null;
    const { content, ...stored } = answer;
    return { ...stored, text: textOf(content), error: null };
  }

  judge(text: string): Promise<JudgedText> {
    return this.#api.post<JudgedText>(`${this.#path}/check`, { body: { text } });
  }

  /** Asks what saving the text would change, and what would happen to the instances. The text must have no problems. */
  plan(text: string): Promise<ChangePlan> {
    const configurations = [{ ...JSON.parse(text), name: this.#name }];
    return this.#api.post<ChangePlan>('/plan', { body: { configurations, showValues: true } });
  }

  async write(text: string, revision: string | null): Promise<string | null> {
    const headers: Record<string, string> =
      revision === null ? { 'if-none-match': '*' } : { 'if-match': `"${revision}"` };
    await this.#api.put(this.#path, { body: JSON.parse(text), headers });
    return (await this.read())?.revision ?? null;
  }
}

/** The schema of a configuration, from the API's description. */
export async function readSchema(api: Api, signal: AbortSignal): Promise<SchemaSource> {
  const { components } = await api.get<{ readonly components: { readonly schemas: SchemaSource['named'] } }>(
    '/openapi.json',
    { signal },
  );
  return { root: components.schemas.ConfigurationInput ?? {}, named: components.schemas };
}
