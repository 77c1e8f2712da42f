/** What the session says. */
export const text = {
  signedOut: 'You are signed out.',
};
