import { describe, expect, it } from 'vitest';
import { KeyedTurns } from '../../../src/loop/keyed-turns.js';

interface Step {
  readonly promise: Promise<void>;
  end(error?: Error): void;
}

function step(): Step {
  let end: (error?: Error) => void = () => {};
  const promise = new Promise<void>((resolve, reject) => {
    end = (error) => (error === undefined ? resolve() : reject(error));
  });
  return { promise, end: (error) => end(error) };
}

describe('turns by key', () => {
  it('run one after the other for one key, and beside each other for others', async () => {
    const turns = new KeyedTurns();
    const [a, b] = [step(), step()];
    const log: string[] = [];
    const run = (key: string, name: string, until: Promise<void>): Promise<void> =>
      turns.run(key, async () => {
        log.push(`${name} begins`);
        await until;
        log.push(`${name} ends`);
      });
    const first = run('k', 'a', a.promise);
    const second = run('k', 'b', b.promise);
    await run('other', 'c', Promise.resolve());
    expect(log).toEqual(['a begins', 'c begins', 'c ends']);
    a.end();
    b.end();
    await Promise.all([first, second]);
    expect(log.slice(3)).toEqual(['a ends', 'b begins', 'b ends']);
  });

  it('go on after one that failed, whose error only its caller gets', async () => {
    const turns = new KeyedTurns();
    const failing = turns.run('k', () => Promise.reject(new Error('no')));
    const next = turns.run('k', async () => 'yes');
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });

  it('are idle when all have ended, those asked for meanwhile too', async () => {
    const turns = new KeyedTurns();
    const log: string[] = [];
    void turns.run('k', async () => {
      void turns.run('k', async () => {
        log.push('late');
      });
    });
    await turns.whenIdle();
    expect(log).toEqual(['late']);
  });
});
