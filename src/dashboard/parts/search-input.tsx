/** A search field that filters a screen with each letter. */
interface SearchInputProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** A CSS class that places it on the screen. */
  readonly class?: string;
}

export function SearchInput({ label, hint, value, onInput, class: place = '' }: SearchInputProps) {
  return (
    <input
      class={`input ${place}`}
      type="search"
      aria-label={label}
      placeholder={hint}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}
