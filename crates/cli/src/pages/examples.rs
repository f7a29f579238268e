//! Examples for the manual pages: a task, and the command for it.

/// The examples of a page. A page's name is its command with hyphens instead of spaces.
pub fn of(page: &str) -> &'static [(&'static str, &'static str)] {
    match page {
        "mgn" => &[
            ("Show what this machine can do", "mgn info"),
            ("Run a program with a render server for this run", "mgn run -- glxgears"),
        ],
        "mgn-run" => &[
            ("Run a program with a render server for this run", "mgn run -- glxgears"),
            (
                "Save the first ten frames as pictures, without a screen",
                "mgn run --headless --frames 10 --save pictures -- glxgears",
            ),
            (
                "Render on another machine, where `mgn server` is running",
                "mgn run --server tls:render:7500 --token-file client.token -- glxgears",
            ),
            (
                "Divide the picture among four renderers, and watch them in a browser",
                "mgn run --wall 2x2 --viewer -- glxgears",
            ),
            (
                "Divide the picture into the tiles of a file",
                "mgn run --wall desk.toml -- glxgears",
            ),
            (
                "Render on the wall that the mothership knows as cave",
                "mgn run --wall cave --mothership tls:control:7400 --token-file client.token -- glxgears",
            ),
            (
                "Draw the data in four shares, each with a renderer of its own, and show one picture",
                "mgn run -np 4 --composite depth -- ./viewer --part %r/%n",
            ),
            (
                "The same, started by an MPI launcher",
                "mpirun -np 4 mgn run --composite depth -- ./viewer --part %r/%n",
            ),
            (
                "Print every command of the program to a file",
                "mgn run --spu print:file=calls.txt -- glxgears",
            ),
        ],
        "mgn-ssh" => &[
            (
                "Run a program on another machine, rendered and shown here",
                "mgn ssh render -- ./viewer",
            ),
            (
                "On a host without X forwarding, save pictures to files there",
                "mgn ssh --headless --save pictures --frames 10 render -- ./viewer",
            ),
        ],
        "mgn-verify" => &[
            (
                "Compare the first 30 frames with those of the local driver",
                "mgn verify --headless -- glxgears",
            ),
            (
                "Compare over TCP, with a key pressed at frame 5, and save pictures of the differences",
                "mgn verify --transport tcp --input '5:xdotool key Left' --out differences -- glxgears",
            ),
        ],
        "mgn-server" => &[
            ("Serve programs of this user on this machine", "mgn server"),
            (
                "Serve programs on the network with a token that `mgn token new` has made here, encrypted",
                "mgn server --listen tls:0.0.0.0:7500",
            ),
            (
                "Register with a mothership, and allow programs to show tiles on a display of this machine",
                "mgn server --listen tls:0.0.0.0:7500 --token-store wall.tokens --token-file server.token --mothership tls:control:7400 --name left --present window=:0",
            ),
        ],
        "mgn-viewer" => &[
            (
                "Show a wall of four tiles in browsers on this machine",
                "mgn viewer --wall 2x2",
            ),
            (
                "Show the wall of a file in browsers on the network",
                "mgn viewer --wall desk.toml --listen tcp:0.0.0.0:8090 --name control",
            ),
        ],
        "mgn-replay" => &[(
            "Replay what `mgn run --transport file:stream` has recorded, and save every tenth picture",
            "mgn replay stream --save pictures --every 10",
        )],
        "mgn-info" => &[
            ("Show what this machine can and cannot do, and why", "mgn info"),
            (
                "Compare the extensions that programs get with those of the local driver",
                "mgn info --gl",
            ),
        ],
        "mgn-tune" => &[
            ("Measure for 15 seconds, and save the settings", "mgn tune"),
            ("Measure for 5 seconds, and only show the settings", "mgn tune --dry-run --seconds 5"),
        ],
        "mgn-bench" => &[
            (
                "Measure everything in two minutes, and save it in folder today",
                "mgn bench --quick --dir today",
            ),
            ("Measure drawing with a program of your choice", "mgn bench gl -- glxgears"),
            (
                "Compare programs through Manganese with direct rendering, and check the goals",
                "mgn bench programs",
            ),
        ],
        "mgn-bench-report" => &[(
            "Make the page today/report.html from the results in folder today",
            "mgn bench report today",
        )],
        "mgn-bench-compare" => &[(
            "Show what is faster or slower than yesterday",
            "mgn bench compare yesterday today",
        )],
        "mgn-mothership" => &[
            (
                "Match the programs and servers of this user on this machine",
                "mgn mothership &",
            ),
            (
                "Start the servers of a file, and listen on its addresses",
                "mgn mothership wall.toml",
            ),
        ],
        "mgn-relay" => &[
            (
                "Connect programs to two servers that only this machine can reach",
                "mgn relay --listen tls:head:7600 --token-store wall.tokens --to gpu1=tls:10.0.0.11:7500 --to gpu2=tls:10.0.0.12:7500",
            ),
            (
                "Connect programs to all servers of a mothership",
                "mgn relay --listen tls:head:7600 --token-store wall.tokens --token-file server.token --mothership tls:control:7400",
            ),
        ],
        "mgn-status" => &[
            ("Show which server renders for which program", "mgn status"),
            (
                "Print the state of a mothership on another machine as JSON",
                "mgn status --mothership tls:control:7400 --token-file admin.token --json",
            ),
        ],
        "mgn-stop" => &[("Stop the mothership and the servers that it has started", "mgn stop")],
        "mgn-config" | "mgn-config-check" => &[(
            "Find the mistakes in a file of walls",
            "mgn config check wall.toml",
        )],
        "mgn-config-show" => &[("Draw the walls of a file", "mgn config show wall.toml")],
        "mgn-config-schema" => &[("Print the schema, to keep it in a file", "mgn config schema")],
        "mgn-token" | "mgn-token-new" => &[
            (
                "On the server's machine, create a token; copy it to the same place where programs run",
                "mgn token new",
            ),
            (
                "Create a token for somebody else",
                "mgn token new alice.token --role client",
            ),
            (
                "Create the token by which the servers of a wall register with its mothership",
                "mgn token new server.token --role server --store wall.tokens",
            ),
        ],
        "mgn-token-add" => &[(
            "Admit a token that was made on another machine",
            "mgn token add alice.token",
        )],
        "mgn-token-list" => &[("Show which tokens are admitted", "mgn token list")],
        "mgn-token-revoke" => &[(
            "Stop admitting the token alice",
            "mgn token revoke alice",
        )],
        "mgn-token-key" => &[("Show the public key of servers here", "mgn token key")],
        _ => &[],
    }
}
