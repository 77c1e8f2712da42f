/** Whether the page is as narrow as on a phone. The styles have the same width. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

const NARROW = '(max-width: 720px)';

export function usePhone(): ReadonlySignal<boolean> {
  return useMedia(NARROW);
}

/** Whether a media query holds, such as `(prefers-color-scheme: dark)`. */
export function useMedia(condition: string): ReadonlySignal<boolean> {
  const holds = useSignal(matchMedia(condition).matches);
  useEffect(() => {
    const query = matchMedia(condition);
    const follow = (): void => {
      holds.value = query.matches;
    };
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, [holds, condition]);
  return holds;
}
