/** Reads the steps of a page that say, in bold, on which machine their commands are typed. */
import { fencesOf } from './markdown.js';

/** One block of commands. */
export interface MachineStep {
  /** `each machine`, or names of machines. */
  readonly machines: readonly string[];
  /** In a terminal of its own; the block need not end. */
  readonly isBeside: boolean;
  readonly lines: readonly string[];
}

const STEP = /^ ?\d+\. \*\*On (.+?)(, in another terminal)?\*\*/m;

/** Of a section with numbered steps. Throws where a step says no machine. */
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
