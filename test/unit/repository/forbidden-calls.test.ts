/**
 * Holds that no source file uses a forbidden call (RELIABILITY.md, security requirements 2 and 5), by reading all
 * of them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../../support/repository-root.js';

interface Rule {
  readonly what: string;
  readonly pattern: RegExp;
  /** Files that may. */
  readonly except?: readonly string[];
}

const RULES: readonly Rule[] = [
  {
    what: 'starts a process: only owners, session tools, git, the program that locks files, the key command of a context, the commands of secrets and the editor of a person are started, by argument arrays',
    pattern: /from '(?:node:)?child_process'|require\(['"](?:node:)?child_process/,
    except: [
      'src/client/configurations/editor.ts',
      'src/client/connection/key-source.ts',
      'src/client/ui/open-browser.ts',
      'src/files/lock-open-file.ts',
      'src/git/git-program.ts',
      'src/node/node-secrets.ts',
      'src/runtime/owner/owner-launch.ts',
      'src/runtime/session/screen/screen-tool.ts',
      'src/runtime/session/input/session-terminal.ts',
      'src/runtime/session/tmux/tmux-server.ts',
      'src/runtime/session/tool-offer.ts',
    ],
  },
  { what: 'calls a shell', pattern: /\bexec(?:Sync)?\(\s*[`'"]|\bshell: true\b/ },
  { what: 'runs text as code', pattern: /\beval\(|new Function\(|from '(?:node:)?vm'/ },
  { what: 'follows links while it removes a tree', pattern: /\brm(?:Sync)?\([^)]*recursive: true/ },
  {
    what: 'takes a weak random source; only delays may have one, handed in',
    pattern: /Math\.random\b/,
    except: ['src/daemon/start-daemon.ts'],
  },
  {
    what: 'reads or writes a time in the zone of its machine; only a page, the lines at a terminal and the fixed day of a zip may',
    pattern:
      /\b[gs]et(?:FullYear|Month|Date|Day|Hours|Minutes|TimezoneOffset)\(|\bto(?:Time|Date|Locale\w*)String\(|new Date\(\d+,|DateTimeFormat|translateTime/,
    except: [
      'src/dashboard/parts/times.ts',
      'src/dashboard/parts/usage/chart.tsx',
      'src/telemetry/logger.ts',
      'src/templates/library/pack-zip.ts',
    ],
  },
];

const files = ['src', 'controllers', 'tools'].flatMap((folder) =>
  readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name)),
);

it.each(RULES)('no file $what', ({ pattern, except = [] }) => {
  expect(files.length).toBeGreaterThan(200);
  const found = files.filter((file) => pattern.test(readFileSync(join(REPOSITORY, file), 'utf8')));
  expect(found.filter((file) => !except.includes(file))).toEqual([]);
});
