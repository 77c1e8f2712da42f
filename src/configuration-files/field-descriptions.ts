/** The manual's words for each field, for the schema of editors. Written by `npm run openapi` from the tables of docs/. */

export const FIELD_DESCRIPTIONS = `
name: the unique name: letters, digits, ., _, -; at most 64; a letter or digit first
runtime: how processes run: screen, tmux, process, docker, or one of an extension. A node offers those whose tool is there. While no node does, instances wait with the reason no-node-fits
command: the shell command line, run by /bin/sh -c in the working directory; at most 65,536 characters. One simple command takes the shell's place: pid, signals and exit code are the program's own
static: true: the working directory is kept over restarts and removal, and the instance never leaves its node
ramMB: RAM that placement reserves, and the limit of all its processes together; 1 to 16,777,216
cpu: CPU units that placement reserves, 100 = one core, and the limit, see sizing; 0 to 1,000,000; 0: nothing reserved, no limit
instanceGroups: groups it belongs to, for tools; no effect on placement
nodes: ids of the nodes that may run it; empty: any
hostAddress: the address that clients connect to. It may hold %NODE_ID%, %NODE_ADDRESS%, %HOST_ADDRESS% (the node's address) and properties
availablePorts: {"min": 8080, "max": 8099}: each instance gets a port of its own from this range, 1 to 65535. Without it instances have no port
ports: more ports of each instance, by name, at most 16: a range, the neighbour of the main port, or its number
sharePort: reuse: the instances on one node share the main port
minimumServiceCount: how many instances Drover keeps; 0 to 100,000
maximumServiceCount: not below minimumServiceCount. Drover removes instances above this number (static ones it stops), and refuses POST /instances at it. Those without players go first, of these what Drover made for the minimum, the youngest first
surplus: what a lowered minimumServiceCount leaves. keep: it goes on. remove: of the instances that Drover made for the minimum, those beyond it go: what is not up first, then what has no players, the youngest first. Players are waited for as update says (players, playersSeconds; without it for ever). What a client made stays. A static one goes too, and its directory stays
onDelete: what becomes of its instances when the configuration is deleted. keep: they go on. stop: they end when they have no players
placement: which of the nodes that fit gets an instance: spread, the one with the fewest instances of the configuration; pack, the fullest one. The whole order
environmentVariables: environment of the process: at most 512, values up to 32,768 characters; variables are replaced
templateInstallationConfig: which templates the working directory is made from
fileModifications: files of the templates in which variables are replaced: relative paths, at most 1024, each file up to 16 MiB
prepare: commands that run before a start, once the directory is made
after: commands that run when everything of a run is gone
limits: bounds of processes, open files, and reads and writes of the disk
fileEdits: values that Drover sets in settings files before every start, in kept directories too
secretFiles: files that each hold the value of a secret, written before every start
maskSecrets: false: the values of its secrets are not covered in its log
properties: variables of your own, limits as for the environment; a name of Drover's own has no effect
runAs: the user that it runs as: a name that the node knows, or uid:gid in numbers
stopCommand: a line for its standard input when a stop begins; at most 4,000 bytes; variables are not replaced, and ^C is two characters: use stopSignal
stopSignal: SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH or SIGKILL
stopTo: who gets stopSignal: main, the program first; all, every process at once. docker knows only main
expose: {"host", "path", "leaveSeconds"}: what proxies learn of its instances, and how long one runs on after it has left their lists, 0 to 600, default 0
stopTimeoutSeconds: from the beginning of a stop to SIGKILL; 0 to 3600; 0: SIGKILL at once
restartPolicy: when Drover starts it again after it ended by itself: always, on-failure (not after exit code 0), never
readiness: when it counts as ready; without it, as soon as the process is up
liveness: when it is still alive after it was ready; without it, as long as its process is up
update: how an edit reaches the instances that run; without it, it does not
job: it runs when a run is asked for: needs a minimumServiceCount of 0 and a restartPolicy of never or on-failure; not with static, maximumServiceCount, update or windows
waitsFor: what must stand before an instance starts for the first time: at most 16
schedules: what is done at which times: at most 16
windows: the times in which more instances are kept than minimumServiceCount: at most 16
managed: a list of fields that the API and the autoscaler set, such as ["minimumServiceCount"]: a file has only their first value
$schema: the schema of this file, for editors; Drover passes it over
$comment: a remark, with any value; Drover passes it over
extends: the path of another file that this one takes over, from here: it then says only what differs
availablePorts.min: the first port of the range; at most max
availablePorts.max: the last port of the range
readiness.httpGet.path: the path that is asked, with its query; it begins with /
readiness.httpGet.port: the port that is asked: a number, or "%PORT%", the instance's own, or "%PORT_<NAME>%" of ports
liveness.httpGet.path: the path that is asked, with its query; it begins with /
liveness.httpGet.port: the port that is asked: a number, or "%PORT%", the instance's own, or "%PORT_<NAME>%" of ports
ports.min: the first port of a range of its own; with max
ports.max: the last port of the range
ports.sameAs: main: the number of the main port
ports.next: the number so many above the main port; 1 to 16. A main port is taken only where this one is free, too
ports.protocol: tcp, udp or both (default): what is held, looked at before a start, and published by docker
readiness.logLine: the run has written a whole line that holds this text. * stands for any characters, everything else for itself; colours do not count. At most 200 characters, looked for in the first 8,192 of a line, and in what stands behind its last carriage return, as behind a progress bar
readiness.tcpPort: this port accepts a connection: a number, "%PORT%" for the instance's own, or "%PORT_<NAME>%" for one of its ports
readiness.httpGet: GET of its path at its port (default "%PORT%") is answered with 2xx or 3xx, within 5 s. Redirects are not followed, the body is not read
readiness.timeoutSeconds: not a check: after so long (default 60; 1 to 86,400) the instance is said to be not ready
readiness.intervalSeconds: not a check: the time from one try at a port to the next (default 1; 0.1 to 3600); the first tries come sooner
update.strategy: manual: nothing is replaced. rolling: all are. idle: only what ends, starts again, or reports that it has no players
update.maxSurge: how many more than now may stand at a time: a number, or a percentage such as "25%" of the ready instances that may be replaced; those with players are not counted. Rounded up
update.maxUnavailable: how many may be missing at a time, likewise; rounded down. Both 0 is an error
update.minReadySeconds: an instance that has been ready for so long, without a restart, is good; 0 to 86,400
update.players: wait: an instance with players is left alone. ignore: players do not count
update.playersSeconds: players are waited for until so long after the rollout began; 0: for ever
update.progressSeconds: no good instance for so long, while one may be replaced, is a failure; 1 to 86,400. Waiting for players is none; finding no room is one
update.onFailure: pause: what was replaced well stays. rollback: it is brought back, too
update.canary: so many are replaced first; the others follow when these are good
update.promote: manual: the others wait for a promotion
update.templates: true: a changed template is a new content, too. Instances that run with another version of a template than the present one are made anew, also when templates and the template change in one save. A static instance is restarted, and keeps files that it changed: the log line of the rollout's end says how many instances have such a warning
fileEdits.path: the file, relative to the working directory; at most 64 files, each up to 1 MiB
fileEdits.format: properties, yaml, json, ini, toml, xml or text
fileEdits.set: the values by key, at most 256: a text, in which variables are replaced, a number, true or false
prepare.command: a command line for /bin/sh -c, in which variables are replaced as in the configuration's own
after.command: a command line for /bin/sh -c, in which variables are replaced as in the configuration's own
prepare.timeoutSeconds: after so long the hook is ended; default 600, 1 to 86,400
after.timeoutSeconds: after so long the hook is ended; default 600, 1 to 86,400
prepare.when: only in prepare. start (default): before every start. install: in a directory that is new. A static instance runs it again when one of its templates or one of these commands has changed
after.when: only in prepare. start (default): before every start. install: in a directory that is new. A static instance runs it again when one of its templates or one of these commands has changed
secretFiles.secret: required: the name of the secret
secretFiles.path: required: the file, relative to the working directory; at most 64 files
secretFiles.mode: the mode of the file in octal digits; default 0400
limits.pids: the most processes and threads at a time, all together; without it 4096. At the limit the system refuses to start more
limits.nofile: the most open files of each process: one number, or {"soft": 1024, "hard": 65536}; 64 to 1,048,576. Without it 1024, which a program may raise to Drover's own hard limit
limits.ioWeight: the share of a busy disk, beside 100 of an instance without; 10 to 1000
limits.readMBps: the most MiB a second that it reads from the disk with its directory; 1 to 100,000
limits.writeMBps: the most MiB a second that it writes to the disk with its directory; 1 to 100,000
job.parameters: what a run may set, by the name of the environment variable, at most 64, none that begins with DROVER_; default is the value where it gives none, and without one it must give one; values are the texts that it may be, 50 at most, in which * stands for any text. A value holds no %NAME%. Records and why show it: no place for a secret
job.timeoutSeconds: how long the program may run; then it is stopped as its configuration says, and its reason is timed-out. A request may give less
job.retries: how many times a run is started again after an end that is no exit code 0; 0 to 1000. Needs the restart policy on-failure
waitsFor.configuration: the name of another configuration; it may be written later
waitsFor.until: ready: an instance of it is ONLINE. started: one runs or has run. finished: one ended with exit code 0 and is not started again, or reported STOPPED
liveness.httpGet: GET of its path at its port (default "%PORT%") is answered with 2xx or 3xx, within 5 s
liveness.tcpPort: this port accepts a connection: a number, "%PORT%" for the instance's own, or "%PORT_<NAME>%" for one of its ports
liveness.heartbeatSeconds: the last PUT state of the instance, with any state, is younger than so long; 1 to 86,400
liveness.logSilenceSeconds: its log got a line within so long; 1 to 86,400
liveness.intervalSeconds: not a check: the time from one look to the next (default 10; 0.1 to 3600)
liveness.failures: not a check: how many looks in a row must fail (default 3; 1 to 100)
liveness.do: not a check. restart (default): the instance is ended and starts again. report: it is only said
schedules.name: a name of its own in this list
schedules.cron: five fields: minute, hour, day of the month, month, day of the week
schedules.zone: the time zone of cron, such as Europe/Berlin
schedules.do: restart: as config restart. stop and start: its instances; stop needs static or a minimumServiceCount of 0. command: a line for their standard input. run: a run of a job, and nothing else goes with job
schedules.command: the line, where do is command
schedules.when: empty: players are waited for. A restart waits for those of each instance; everything else until no instance has any; run until the former run has ended, whatever this says
schedules.withinMinutes: how late it may still be done; 1 to 1440. Later it is missed
schedules.warn: a warning before each due time
schedules.warn.minutes: how many minutes before; 1 to 1440
schedules.warn.command: the line for the standard input of the instances
windows.cron: when a window opens
windows.zone: the time zone of cron
windows.minutes: how long it stays open; 1 to 10,080
windows.minimumServiceCount: the minimum while it is open, where it is higher than that of the configuration. Afterwards surplus says what becomes of the instances
templateInstallationConfig.allOf: templates that are all installed
templateInstallationConfig.allInGroups: names of groups whose templates are all installed, those of storages too
templateInstallationConfig.oneOf: one of these templates, drawn once for each instance
templateInstallationConfig.oneInGroups: of each of these groups one template, drawn likewise
templateInstallationConfig.onTemplatePasteOverridePresentFiles: default false. Static instances: true lets each start replace files that are there already, also those that the server wrote
templateInstallationConfig.allOf.group: required: the group in which the template lies
templateInstallationConfig.oneOf.group: required: the group in which the template lies
templateInstallationConfig.allOf.name: required: the name of the template in its group
templateInstallationConfig.oneOf.name: required: the name of the template in its group
templateInstallationConfig.allOf.priority: default 0. Where two templates have one path, the higher one wins
templateInstallationConfig.oneOf.priority: default 0. Where two templates have one path, the higher one wins
templateInstallationConfig.allOf.storage: default local; else the key of a storage
templateInstallationConfig.oneOf.storage: default local; else the key of a storage
`;
