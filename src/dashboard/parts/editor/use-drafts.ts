/** The drafts of the key that is signed in, and a warning before a page with unsaved text is closed. */
import { useEffect, useMemo } from 'preact/hooks';
import { useServices } from '../../services/services.js';
import { text as parts } from '../text.js';
import { Drafts } from './drafts.js';
import type { EditedText } from './edited-text.js';

export function useDrafts(): Drafts {
  const { session } = useServices();
  const owner = session.caller.value?.key ?? '';
  return useMemo(() => new Drafts(sessionStorage, owner), [owner]);
}

/**
 * Makes the browser ask before it closes or reloads the page. When another screen is shown, a toast says that the draft
 * is kept.
 */
export function useUnsavedWarning(edited: EditedText | null, name: string): void {
  const { toasts } = useServices();
  useEffect(() => {
    if (edited === null) return;
    const warn = (event: BeforeUnloadEvent): void => {
      if (edited.isDirty.peek()) event.preventDefault();
    };
    addEventListener('beforeunload', warn);
    return () => {
      removeEventListener('beforeunload', warn);
      if (edited.isDirty.peek()) toasts.done(parts.unsavedKept(name));
    };
  }, [edited, name, toasts]);
}
