/**
 * The versions of TLS that the API speaks. `setSecureContext` forgets what it is not given, so every use of a
 * certificate names them.
 */
export const TLS_VERSIONS = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' } as const;
