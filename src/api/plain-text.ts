/** The API's name for what is shared with the commands: see `src/telemetry/plain-text.ts`. */
export { toPlainText } from '../telemetry/plain-text.js';
