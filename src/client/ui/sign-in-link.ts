/** Asks a master for a link that signs a browser in, once. */
import { ApiClient } from '../api-client.js';
import type { ApiConnection } from '../connection/connection.js';

export interface SignInLink {
  /** The address of the dashboard. Not secret. */
  readonly page: string;
  /** The same with the code. */
  readonly link: string;
}

/** Throws a ClientError, also when the master serves no dashboard. */
export async function makeLink(connection: ApiConnection): Promise<SignInLink> {
  const code = await makeCode(connection);
  const page = `${connection.url}/ui/`;
  return { page, link: `${page}#code=${code}` };
}

/** Asks the master for the sign-in code that ends such a link. */
export async function makeCode(connection: ApiConnection): Promise<string> {
  const path = '/sessions/codes';
  const { code } = await new ApiClient(connection).send<{ readonly code: string }>('POST', path, {});
  return code;
}
