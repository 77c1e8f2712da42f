/**
 * Where the container engine listens: `DOCKER_HOST`, else the usual places of Docker and Podman. Only Unix sockets:
 * working directories are mounted into containers, so the engine must be on this machine.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { attempt } from '../../../model/plain/attempt.js';
import { systemReason } from '../../../model/words.js';
import { unavailable } from '../../failures.js';

const UNIX = 'unix://';

/**
 * The path of the first socket that is there. Throws DRV_RUNTIME_UNAVAILABLE, which tells an operator why there is none
 * and what to do.
 */
export function findEngineSocket(environment: Readonly<Record<string, string | undefined>>): string {
  const host = environment.DOCKER_HOST;
  if (host !== undefined && host !== '') return configuredSocket(host);
  const found = usualPlaces(environment).find(isSocket);
  if (found !== undefined) return usable(found);
  throw unavailable('no Docker or Podman socket was found; start the engine, or set DOCKER_HOST=unix://PATH');
}

function configuredSocket(host: string): string {
  if (!host.startsWith(`${UNIX}/`))
    throw unavailable(
      'DOCKER_HOST is not of the form unix:///PATH; the engine must be on this machine, as it mounts working directories',
    );
  const path = host.slice(UNIX.length);
  if (!isSocket(path)) throw unavailable('there is no socket where DOCKER_HOST points; start the engine');
  return usable(path);
}

function usualPlaces({ XDG_RUNTIME_DIR }: Readonly<Record<string, string | undefined>>): string[] {
  const places = ['/var/run/docker.sock', '/run/podman/podman.sock'];
  if (XDG_RUNTIME_DIR !== undefined && XDG_RUNTIME_DIR !== '')
    places.push(`${XDG_RUNTIME_DIR}/docker.sock`, `${XDG_RUNTIME_DIR}/podman/podman.sock`);
  return places;
}

function isSocket(path: string): boolean {
  return attempt(() => statSync(path).isSocket(), false);
}

function usable(path: string): string {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return path;
  } catch (error) {
    throw unavailable(
      `its socket cannot be opened: ${systemReason(error) ?? 'permission denied'}; add Drover's user to the group that owns it (docker) and start Drover again`,
    );
  }
}
