/** Reads the steps of a page that name, in bold, the machine on which their commands are typed. */
import { fencesOf } from './markdown.js';

/** One block of commands. */
export interface MachineStep {
  /** The machines: `each machine`, or names. */
  readonly machines: readonly string[];
  /** True: the commands run in a second terminal, and need not end. */
  readonly isBeside: boolean;
  readonly lines: readonly string[];
}

const STEP = /^ ?\d+\. \*\*On (.+?)(, in another terminal)?\*\*/m;

/** The steps of a section with numbered steps. Throws when a step names no machine. */
export function machineSteps(section: string, all: readonly string[]): MachineStep[] {
  return section
    .split(/^(?= ?\d+\. )/m)
    .slice(1)
    .flatMap((text) => {
      const [, where = '', beside] = STEP.exec(text) ?? [];
      const machines = where === 'each machine' ? all : where.split(' and ');
      if (!machines.every((name) => all.includes(name))) throw new Error(`on which machine? ${text}`);
      const blocks = fencesOf(text).filter(({ language }) => language === 'sh');
      return blocks.map(({ lines }) => ({ machines, isBeside: beside !== undefined, lines }));
    });
}
