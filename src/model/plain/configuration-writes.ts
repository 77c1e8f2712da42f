/** Where changes of configurations through the API go. */

/**
 * `file`: into the files. `state`: into the state, as overrides; the files are never written. `refuse`: nowhere, and the
 * files are never written.
 */
export const CONFIGURATION_WRITES = ['file', 'state', 'refuse'] as const;
export type ConfigurationWrites = (typeof CONFIGURATION_WRITES)[number];

export const WRITES_TEXT: Readonly<Record<ConfigurationWrites, string>> = {
  file: 'changes through the API go into the files',
  state: 'the files are never written: changes through the API are overrides, "config overrides" lists them',
  refuse: 'only the files change configurations: changes through the API are refused',
};
