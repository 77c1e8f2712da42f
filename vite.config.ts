/**
 * Builds the dashboard: `src/dashboard/` becomes `dist/dashboard/`, files with hashed names that the API server keeps in
 * memory. `bundle.mjs` calls it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { billOfMaterials, licences } from './rolldown.config.js';

const COMPRESSIBLE = /(?<!\.cdx)\.(?:css|js|json|svg|txt)$/;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };

export default defineConfig({
  root: 'src/dashboard',
  // Relative, so that the page also works behind a proxy that puts it below a path.
  base: './',
  publicDir: false,
  plugins: [licences(), billOfMaterials(), compressed()],
  build: {
    outDir: '../../dist/dashboard',
    emptyOutDir: true,
    target: ['es2023', 'chrome123', 'firefox128', 'safari17.5'],
    // A strict Content-Security-Policy allows neither `data:` addresses nor a script inside the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});

/**
 * Puts a brotli and a gzip copy beside each file that they make smaller, so that the server compresses nothing. The
 * page itself has no copies, because each answer contains a new nonce.
 */
function compressed(): Plugin {
  return {
    name: 'compressed',
    writeBundle({ dir = '' }, bundle) {
      for (const name of Object.keys(bundle).filter((file) => COMPRESSIBLE.test(file))) {
        const file = join(dir, name);
        const bytes = readFileSync(file);
        const copies = { br: brotliCompressSync(bytes, BROTLI), gz: gzipSync(bytes, { level: 9 }) };
        for (const [ending, copy] of Object.entries(copies))
          if (copy.length < bytes.length) writeFileSync(`${file}.${ending}`, copy);
      }
    },
  };
}
