/** The texts of the sign-in. */
export const text = {
  title: 'Sign in to Drover',
  key: 'Key',
  keyHint: 'Where Drover runs, "drover ui" opens this page signed in. The first key is in data/admin.key.',
  noKey: 'Enter a key.',
  signIn: 'Sign in',
  privacy:
    'The key itself is not kept. This tab gets a session, which ends when you sign out, or 12 hours after its last use.',
};
