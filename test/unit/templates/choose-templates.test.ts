import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomInstanceId } from '../../../src/model/names.js';
import { type TemplateInstallation, templateInstallationSchema } from '../../../src/model/template.js';
import { chooseTemplates } from '../../../src/templates/library/choose.js';

const groups = new Map([
  ['base', ['core', 'tools']],
  ['empty', []],
  ['maps', ['desert', 'ice', 'jungle']],
]);

const offer = { groups, storages: ['cloud'] };

function installation(input: object): TemplateInstallation {
  return templateInstallationSchema.parse(input);
}

function chosen(input: object, id = 'abc123'): string[] {
  return chooseTemplates(installation(input), id, offer).templates.map(
    ({ group, name, priority }) => `${priority} ${group}/${name}`,
  );
}

describe('chooseTemplates', () => {
  it('takes all of allOf and every template of allInGroups, by priority and then by name', () => {
    expect(
      chosen({
        allOf: [
          { group: 'maps', name: 'ice', priority: 5 },
          { group: 'zoo', name: 'last', priority: -1 },
        ],
        allInGroups: ['maps', 'base'],
      }),
    ).toEqual(['-1 zoo/last', '0 base/core', '0 base/tools', '0 maps/desert', '0 maps/jungle', '5 maps/ice']);
  });

  it('installs a template once; a written priority beats that of its group and the highest wins', () => {
    const allOf = [
      { group: 'base', name: 'core', priority: -9 },
      { group: 'base', name: 'core', priority: -3 },
    ];
    expect(chosen({ allOf, allInGroups: ['base'] })).toEqual(['-3 base/core', '0 base/tools']);
  });

  it('sees the groups of storages too: local templates first, then the first storage that has the name', () => {
    const stored = (group: string) => ({
      templates: [
        { storage: 'cloud', group, name: 'desert' },
        { storage: 'cloud', group, name: 'sea' },
        { storage: 'disk', group, name: 'sea' },
      ],
      problems: [],
    });
    const of = (input: object, id = 'abc123') =>
      chooseTemplates(installation(input), id, { groups, storages: ['cloud', 'disk'], stored }).templates.map(
        ({ storage, group, name }) => `${storage} ${group}/${name}`,
      );
    expect(of({ allInGroups: ['maps'] })).toEqual([
      'local maps/desert',
      'local maps/ice',
      'local maps/jungle',
      'cloud maps/sea',
    ]);
    expect(of({ allInGroups: ['far'] })).toEqual(['cloud far/desert', 'cloud far/sea']);
    const drawn = new Set(
      Array.from({ length: 200 }, () => of({ oneInGroups: ['maps'] }, randomInstanceId()).join()),
    );
    expect([...drawn].sort()).toEqual([
      'cloud maps/sea',
      'local maps/desert',
      'local maps/ice',
      'local maps/jungle',
    ]);
  });

  it('waits for a storage that is being asked, and says which could not be asked when nothing is found', () => {
    const problemsWith = (stored: object, group = 'far') =>
      chooseTemplates(installation({ allInGroups: [group] }), 'abc123', {
        ...offer,
        stored: () => ({ templates: [], problems: [], ...stored }),
      }).problems;
    const pending = 'group far of storage cloud is being asked for';
    expect(problemsWith({ pending })).toEqual([pending]);
    expect(problemsWith({ pending }, 'maps')).toEqual([pending]);
    const problems = ['group far of storage cloud cannot be had: timeout'];
    expect(problemsWith({ problems })).toEqual([`there is no template group far; ${problems[0]}`]);
    expect(problemsWith({ problems }, 'maps')).toEqual([]);
  });

  it('takes a template from a registered storage, beside the local one of its name', () => {
    const allOf = [
      { group: 'base', name: 'core', storage: 'cloud', priority: 2 },
      { group: 'base', name: 'core', storage: 'cloud', priority: 1 },
    ];
    const { templates, problems } = chooseTemplates(
      installation({ allOf, allInGroups: ['base'] }),
      'abc123',
      offer,
    );
    expect(templates.map(({ storage, name, priority }) => `${priority} ${storage} ${name}`)).toEqual([
      '0 local core',
      '0 local tools',
      '2 cloud core',
    ]);
    expect(problems).toEqual([]);
  });

  it('draws one of oneOf and one per group, the same at every call', () => {
    const oneOf = ['x', 'y', 'z'].map((name) => ({ group: 'mode', name }));
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9]{6}$/), (id) => {
        const first = chosen({ oneOf, oneInGroups: ['maps', 'base'] }, id);
        expect(first).toEqual(chosen({ oneOf, oneInGroups: ['base', 'maps'] }, id));
        expect(first.map((text) => text.replace(/\/.*/, ''))).toEqual(['0 base', '0 maps', '0 mode']);
      }),
    );
  });

  it('draws evenly', () => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 3000; index++) {
      const [template = ''] = chosen({ oneInGroups: ['maps'] }, randomInstanceId());
      counts.set(template, (counts.get(template) ?? 0) + 1);
    }
    // 1000 each are expected; a standard deviation is 26.
    expect(counts.size).toBe(3);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(200);
  });

  it('says in words what it could not choose, once each, and still chooses the rest', () => {
    const choice = chooseTemplates(
      installation({
        allOf: [{ group: 'base', name: 'core', storage: 's3' }],
        allInGroups: ['none', 'base'],
        oneInGroups: ['none', 'empty'],
      }),
      'abc123',
      offer,
    );
    expect(choice.problems).toEqual([
      'template base/core: storage s3 is not registered; registered are: cloud (extensions bring storages, local is templates/ itself)',
      'there is no template group none',
      'the template group empty holds no template',
    ]);
    expect(choice.templates.map(({ name }) => name)).toEqual(['core', 'tools']);
  });

  it('chooses nothing, and has no problem, when nothing is asked for', () => {
    expect(chooseTemplates(installation({}), 'abc123', offer)).toEqual({ templates: [], problems: [] });
  });
});
