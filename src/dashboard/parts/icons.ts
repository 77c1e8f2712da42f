/** The icons as lines on a field of 24 by 24. */
export const ICON_PATHS = {
  overview: 'M4 11l8-7 8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z',
  instances: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  configurations: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  nodes: 'M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01',
  templates: 'M3 6h7l2 3h9v10H3z',
  access: 'M14.5 9.5a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0zM13.2 12.7l6.8 6.8M17 16.5l2-2',
  find: 'M10.5 17a6.5 6.5 0 1 1 0-13 6.5 6.5 0 0 1 0 13zM15.5 15.5L20 20',
  restart: 'M20 12a8 8 0 1 1-2.6-5.9M20 4v4h-4',
  start: 'M8 5l11 7-11 7z',
  stop: 'M7 7h10v10H7z',
  delete: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
  good: 'M20 12a8 8 0 1 1-16 0 8 8 0 0 1 16 0zM8.5 12.2l2.5 2.4 4.5-5',
  bad: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  busy: 'M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM12 7.5V12l3 2',
  still: 'M20 12a8 8 0 1 1-16 0 8 8 0 0 1 16 0zM8.5 12h7',
  unplaced: 'M4 4h16v16H4zM9 9l6 6M15 9l-6 6',
  rollout: 'M4 12h12M12 7l5 5-5 5M20 5v14',
  back: 'M9 7L4 12l5 5M4 12h11a5 5 0 0 1 0 10h-2',
  players: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM5 20a7 7 0 0 1 14 0',
  log: 'M5 6h14M5 10h10M5 14h14M5 18h8',
  file: 'M6 3h8l4 4v14H6zM10 12l4 5M14 12l-4 5',
  edit: 'M4 20l1-5L16 4l4 4L9 19zM13.5 6.5l4 4',
  copy: 'M8 8h11v12H8zM5 16V4h11',
  menu: 'M4 7h16M4 12h16M4 17h16',
} as const;

export type IconName = keyof typeof ICON_PATHS;
