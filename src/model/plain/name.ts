/** The form of a name: of a configuration, template, template group, node or runtime. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
