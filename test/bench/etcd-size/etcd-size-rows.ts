/** The findings of the etcd-size benchmark as rows of the table. They inform: what they cost is for the operator to pay. */
import type { Row } from '../table.js';
import { ms } from '../world.js';
import { type Findings, PER_SECOND } from './etcd-size-world.js';

/** What etcd takes when nobody tells it otherwise. */
const DEFAULT_QUOTA_BYTES = 2 * 1024 ** 3;

export function rowsOf(findings: Findings): Row[] {
  const name = `${findings.size.instances} instances on etcd`;
  return [...sizeRows(name, findings), ...masterRows(name, findings), ...changeRows(name, findings)].map(
    (row) => ({ ...row, target: '-', ok: true }),
  );
}

type Words = Pick<Row, 'figure' | 'value' | 'baseline'>;

function sizeRows(name: string, { size, created, compacted, day, ...findings }: Findings): Words[] {
  const { instances, hours } = size;
  return [
    {
      figure: `${name}, as they were created: database`,
      value: `${megabytes(created.databaseBytes)} (${megabytes(created.diskBytes)} with log)`,
      baseline: `compacted, in use: ${megabytes(compacted.inUseBytes)}`,
    },
    {
      figure: `${name}: an instance, compacted`,
      value: `${Math.round(compacted.inUseBytes / instances)} bytes`,
      baseline: `LMDB: ${Math.round(findings.fileBytes / instances)} bytes`,
    },
    {
      figure: `${name}, each changed once an hour, for ${hours} hours: database`,
      value: `${megabytes(day.databaseBytes)} (${megabytes(day.diskBytes)} with log)`,
      baseline: `before: ${megabytes(created.databaseBytes)}`,
    },
    {
      figure: `${name}: a change, until it is forgotten`,
      value: `${Math.round(findings.bytesOfChange.alone)} bytes`,
      baseline: `${PER_SECOND} a second: ${Math.round(findings.bytesOfChange.paced)} bytes`,
    },
    {
      figure: `${name}, as they were changed: what the default quota of 2 GiB holds`,
      value: `${Math.floor(DEFAULT_QUOTA_BYTES / (day.databaseBytes / instances))} instances`,
      baseline: `${Math.round(day.databaseBytes / instances)} bytes each`,
    },
    {
      figure: `${name}: resident memory of etcd after these hours`,
      value: `${Math.round(day.residentMB)} MB (at its peak ${Math.round(day.peakMB)} MB)`,
      baseline: `as they were created: ${Math.round(created.residentMB)} MB`,
    },
  ];
}

function masterRows(name: string, { starts, takeOver, size, filled }: Findings): Words[] {
  return [
    {
      figure: `${name}: created to ONLINE, each`,
      value: `${((filled.seconds * 1000) / size.instances).toFixed(3)} ms (${filled.seconds.toFixed(1)} s in all)`,
      baseline: `${(filled.transactions / size.instances).toFixed(1)} changes each`,
    },
    {
      figure: `${name}: start of a master, until it has loaded the state`,
      value: ms(starts.etcd.loadedMs),
      baseline: `LMDB: ${ms(starts.lmdb.loadedMs)}`,
    },
    {
      figure: `${name}: resident memory of a master that has loaded it`,
      value: `${Math.round(starts.etcd.residentMB)} MB`,
      baseline: `LMDB: ${Math.round(starts.lmdb.residentMB)} MB`,
    },
    {
      figure: `${name}: a follower has won the term, until its first write`,
      value: `${ms(takeOver.writtenMs)} (${ms(takeOver.readyMs)} of them until all is started)`,
      baseline: `since kill -9 of the leader: ${ms(takeOver.sinceKillMs)}`,
    },
  ];
}

function changeRows(name: string, { cost, delay, fsyncMs }: Findings): Words[] {
  const { followed, unfollowed } = cost;
  return [
    {
      figure: `${name}, ${PER_SECOND} changes a second, one master follows: CPU of etcd, each`,
      value: each(followed.etcd),
      baseline: `none follows: ${each(unfollowed.etcd)}`,
    },
    {
      figure: `${name}, the same: CPU of the follower, each`,
      value: each(followed.follower),
      baseline: `the leader: ${each(followed.leader)}`,
    },
    {
      figure: `${name}, the same: until the follower shows it, p50 / p99`,
      value: `${ms(delay.p50)} / ${ms(delay.p99)}`,
      baseline: `written: ${ms(followed.written.p50)} / ${ms(followed.written.p99)}`,
    },
    {
      figure: `${name}: etcd waits for its disk, mean of all writes`,
      value: `${fsyncMs.toFixed(2)} ms`,
      baseline: '-',
    },
  ];
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function each(milliseconds: number): string {
  return `${milliseconds.toFixed(3)} ms`;
}
