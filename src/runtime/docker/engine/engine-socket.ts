/**
 * Where the container engine listens: `DOCKER_HOST`, else the usual places of Docker and Podman. Only Unix sockets:
 * working directories are mounted into containers, so the engine must be on this machine.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { systemReason } from '../../../model/words.js';

type EngineSocket = { readonly path: string } | { readonly problem: string };

const UNIX = 'unix://';

/** Finds the first socket that is there. `problem` tells an operator why there is none and what to do. */
export function findEngineSocket(environment: Readonly<Record<string, string | undefined>>): EngineSocket {
  const host = environment.DOCKER_HOST;
  if (host !== undefined && host !== '') return configuredSocket(host);
  const found = usualPlaces(environment).find(isSocket);
  if (found !== undefined) return usable(found);
  return {
    problem: 'no Docker or Podman socket was found; start the engine, or set DOCKER_HOST=unix://PATH',
  };
}

function configuredSocket(host: string): EngineSocket {
  if (!host.startsWith(`${UNIX}/`))
    return {
      problem:
        'DOCKER_HOST is not of the form unix:///PATH; the engine must be on this machine, as it mounts working directories',
    };
  const path = host.slice(UNIX.length);
  return isSocket(path)
    ? usable(path)
    : { problem: 'there is no socket where DOCKER_HOST points; start the engine' };
}

function usualPlaces({ XDG_RUNTIME_DIR }: Readonly<Record<string, string | undefined>>): string[] {
  const places = ['/var/run/docker.sock', '/run/podman/podman.sock'];
  if (XDG_RUNTIME_DIR !== undefined && XDG_RUNTIME_DIR !== '')
    places.push(`${XDG_RUNTIME_DIR}/docker.sock`, `${XDG_RUNTIME_DIR}/podman/podman.sock`);
  return places;
}

function isSocket(path: string): boolean {
  try {
    return statSync(path).isSocket();
  } catch {
    return false;
  }
}

function usable(path: string): EngineSocket {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return { path };
  } catch (error) {
    return {
      problem: `its socket cannot be opened: ${systemReason(error) ?? 'permission denied'}; add Drover's user to the group that owns it (docker) and start Drover again`,
    };
  }
}
