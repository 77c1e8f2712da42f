/** Entry of the thread that edits settings files, started by edit-thread.ts. */
import { answerJobs } from '../../../loop/worker-thread.js';
import { editContent } from './file-edit.js';

answerJobs(editContent);
