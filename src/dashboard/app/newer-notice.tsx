/** A notice that Drover was updated while this tab was open, with a button that loads the new page. */
import { Button } from '../parts/button.js';
import { useServices } from '../services/services.js';
import { text } from './text.js';

export function NewerNotice() {
  const { build } = useServices();
  if (!build.isOld.value) return null;
  return (
    <div class="banner" role="status">
      <span>{text.newer}</span>
      <Button onPress={() => location.reload()}>{text.reload}</Button>
    </div>
  );
}
