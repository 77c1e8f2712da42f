/** The bar above the log: the search, the button that holds it still, and a menu. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button, Submit } from '../../../parts/button.js';
import { Menu, type MenuItem } from '../../../parts/menu.js';
import { text } from '../text.js';
import type { LogFeed } from './log-feed.js';

interface LogBarProps {
  readonly feed: LogFeed;
  readonly pattern: string;
  readonly onSearch: (pattern: string) => void;
  readonly onFollow: () => void;
  /** True when the instance is gone, so that no new lines come. */
  readonly isOver: boolean;
  readonly items: readonly MenuItem[];
}

export function LogBar({ feed, pattern, onSearch, onFollow, isOver, items }: LogBarProps) {
  const typed = useSignal(pattern);
  useEffect(() => {
    typed.value = pattern;
  }, [pattern, typed]);
  const isFollowing = feed.isFollowing.value;
  return (
    <div class="inline">
      {!isOver && (
        <form
          class="log-find"
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            onSearch(typed.value);
          }}
        >
          <input
            class="input"
            type="search"
            aria-label={text.search.label}
            placeholder={text.search.placeholder}
            value={typed.value}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            enterkeyhint="search"
            onInput={(event) => {
              typed.value = event.currentTarget.value;
              if (typed.value === '') onSearch('');
            }}
          />
          <Submit kind="normal">{text.search.submit}</Submit>
        </form>
      )}
      <div class="bar-end">
        {!isOver && (
          <Button onPress={() => (isFollowing ? feed.follow(false) : onFollow())}>
            {isFollowing ? text.log.pause : text.log.follow}
          </Button>
        )}
        <Menu label={text.log.more} items={items} />
      </div>
    </div>
  );
}
