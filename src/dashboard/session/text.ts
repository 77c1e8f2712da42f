/** The texts of the session. */
export const text = {
  signedOut: 'You are signed out.',
};
