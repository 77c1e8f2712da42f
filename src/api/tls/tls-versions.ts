/**
 * The versions of TLS that the API speaks. Every use of a certificate names them, because `setSecureContext` forgets
 * each option that is left out.
 */
export const TLS_VERSIONS = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' } as const;
