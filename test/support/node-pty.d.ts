/** The types of node-pty, which its prebuilt package declares under its own name. */
/// <reference types="node-pty" />
declare module 'node-pty' {
  export * from '@lydell/node-pty';
}
