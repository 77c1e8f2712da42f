/** Entries of the audit trail in words, for events and the page. Pure. The words of a new route follow from its path. */

/** The verbs of methods, and of the words of routes and commands that are no verbs for people. */
const VERBS: Readonly<Record<string, string>> = {
  ...{ POST: 'create', PUT: 'save', PATCH: 'change', DELETE: 'delete', redeem: 'open', attach: 'attach to' },
  ...{ execute: 'type into', command: 'type into', rollback: 'roll back', batch: 'change' },
  ...{ file: 'write back the file of', signal: 'send a signal to', state: 'report the state of' },
  ...{ undrain: 'call off the drain of', 'POST /extensions/commands/:command': 'run' },
};
const PASTS: Readonly<Record<string, string>> = {
  ...{ stop: 'stopped', skip: 'skipped', run: 'ran', send: 'sent', write: 'wrote', reset: 'reset' },
  ...{ freeze: 'froze', unfreeze: 'unfroze' },
};
/** The routes whose subject ends with the verb. */
const CHOSEN = /\/(?:lifecycle|:action)$/;
const CHOICE = /(?: target=|\/)(\w+)$/;

/** The verb of a request, its noun in the plural, and its subject without a verb. */
export function deedOf(action: string, subject: string) {
  const [method = '', path = ''] = action.split(' ');
  const parts = path.split('/').slice(1);
  const literals = parts.filter((part) => !/^[:*]/.test(part));
  const last = literals.at(-1) ?? '';
  const isVerb = literals.length > 1 && last === parts.at(-1) && !last.endsWith('s');
  const choice = CHOSEN.test(action) ? (CHOICE.exec(subject) ?? undefined) : undefined;
  const word = choice?.[1]?.toLowerCase() ?? (!isVerb ? method : method === 'DELETE' ? `un${last}` : last);
  return {
    verb: VERBS[action] ?? verbOf(word),
    noun: (literals.findLast((part) => part.endsWith('s')) ?? literals[0] ?? '').replace('-', ' '),
    name: choice === undefined ? subject : subject.slice(0, choice.index),
  };
}

/** The verb for a word of a route or command, such as `send a signal to` for `signal`. */
export function verbOf(word: string): string {
  return VERBS[word] ?? word;
}

export function pastOf(verb: string): string {
  return verb.replace(/^\S+/, (word) => PASTS[word] ?? word.replace(/y$/, 'i').replace(/e?$/, 'ed'));
}
