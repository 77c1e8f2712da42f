/** The pack threads of the built program, for tests that install templates. They end with the process. */
import { join } from 'node:path';
import type { EditThread } from '../../../src/runtime/installation/file-edits/edit-thread.js';
import { editContent } from '../../../src/runtime/installation/file-edits/file-edit.js';
import { PackThreads } from '../../../src/templates/transfer/pack-threads.js';
import { REPOSITORY } from '../repository-root.js';

export const packThreads = new PackThreads(join(REPOSITORY, 'dist/pack-thread-main.js'));

/** Edits as the thread of a daemon does, in this one. */
export const editThread: Pick<EditThread, 'edit'> = { edit: async (job) => editContent(job) };
