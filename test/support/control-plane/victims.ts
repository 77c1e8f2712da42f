/** Victims and replacements as the reconcilers gather them, for tests of the decisions about them. */
import type { Outlook, Replacement, Victim } from '../../../controllers/master/replacement/facts.js';

export const FITS: Outlook = { obstacle: null, recheckInMs: null, isDelayed: false, isAtMaximum: false };
export const NOWHERE: Outlook = {
  ...FITS,
  obstacle: '0/2 nodes fit: 1 short of RAM (need 100 MB, free 5 MB)',
};
export const FULL: Outlook = { ...FITS, isAtMaximum: true };

/** A victim that is wanted and up, without players, and with a place to go to. */
export function victim(id: string, fields: Partial<Victim> = {}): Victim {
  return {
    id,
    maker: 'enforcer',
    configurationName: 'lobby',
    goal: 'run',
    static: false,
    isUp: true,
    players: 0,
    replacement: undefined,
    spareFor: null,
    outlook: FITS,
    ...fields,
  };
}

export function replacement(fields: Partial<Replacement> = {}): Replacement {
  const isUp = (fields.state ?? 'ONLINE') === 'ONLINE';
  return {
    id: 'new',
    maker: 'enforcer',
    state: 'ONLINE',
    isUp,
    message: null,
    players: 0,
    isAnswered: true,
    ...fields,
  };
}
