//! Examples for the manual pages: what is done, and the command that does it.

/// Those of a page, which is called like the command with hyphens in place of spaces.
pub fn of(page: &str) -> &'static [(&'static str, &'static str)] {
    match page {
        "mgn" => &[
            ("See what this machine can do", "mgn info"),
            ("Run a program with a render server of its own", "mgn run -- glxgears"),
        ],
        "mgn-run" => &[
            ("Run a program with a render server of its own", "mgn run -- glxgears"),
            (
                "Keep the first ten frames as pictures, without any screen",
                "mgn run --headless --frames 10 --save pictures -- glxgears",
            ),
            (
                "Have a server on another machine render, which `mgn server` has started there",
                "mgn run --server tls:render:7500 --token-file wall.token -- glxgears",
            ),
            (
                "Divide the picture among four renderers, and watch them in a browser",
                "mgn run --wall 2x2 --viewer -- glxgears",
            ),
            (
                "The same with the tiles of a file",
                "mgn run --wall desk.toml -- glxgears",
            ),
            (
                "Be drawn by the wall that the mothership knows as cave",
                "mgn run --wall cave --mothership tls:control:7400 --token-file wall.token -- glxgears",
            ),
            (
                "Print every command that the program gives",
                "mgn run --spu print:file=calls.txt -- glxgears",
            ),
        ],
        "mgn-ssh" => &[
            (
                "Run a program on another machine, rendered and shown here",
                "mgn ssh render -- ./viewer",
            ),
            (
                "The same for a host without X forwarding: pictures go into files there",
                "mgn ssh --headless --save pictures --frames 10 render -- ./viewer",
            ),
        ],
        "mgn-verify" => &[
            (
                "Compare the first 30 frames with those of the local driver",
                "mgn verify --headless -- glxgears",
            ),
            (
                "The same over TCP, with a key pressed at frame 5, and pictures of what differs",
                "mgn verify --transport tcp --input '5:xdotool key Left' --out differences -- glxgears",
            ),
        ],
        "mgn-server" => &[
            ("Serve programs of this user on this machine", "mgn server"),
            (
                "Serve programs on the network, encrypted, to those who know the token",
                "mgn server --listen tls:0.0.0.0:7500 --token-file wall.token",
            ),
            (
                "Come on line with a mothership, and let it show tiles on a display of this machine",
                "mgn server --listen tls:0.0.0.0:7500 --token-file wall.token --mothership tls:control:7400 --name left --present window=:0",
            ),
        ],
        "mgn-viewer" => &[
            (
                "Show a wall of four tiles to browsers on this machine",
                "mgn viewer --wall 2x2",
            ),
            (
                "Show the wall of a file to browsers on the network",
                "mgn viewer --wall desk.toml --listen tcp:0.0.0.0:8090 --name control",
            ),
        ],
        "mgn-replay" => &[(
            "Draw again what `mgn run --transport file:stream` has recorded, and keep each tenth picture",
            "mgn replay stream --save pictures --every 10",
        )],
        "mgn-info" => &[
            ("See what this machine can do, and why not", "mgn info"),
            (
                "See which extensions programs are given, beside those of the local driver",
                "mgn info --gl",
            ),
        ],
        "mgn-tune" => &[
            ("Measure for a quarter of a minute, and keep the settings", "mgn tune"),
            ("Only show them", "mgn tune --dry-run --seconds 5"),
        ],
        "mgn-bench" => &[
            (
                "Measure everything in a minute and a half, and make a page of it",
                "mgn bench --quick --dir today",
            ),
            ("Measure drawing with another program", "mgn bench gl -- glxgears"),
        ],
        "mgn-bench-report" => &[(
            "Make today/report.html of what is in the folder",
            "mgn bench report today",
        )],
        "mgn-bench-compare" => &[(
            "See what is faster or slower than yesterday",
            "mgn bench compare yesterday today",
        )],
        "mgn-mothership" => &[
            (
                "Bring together the programs and servers of this user on this machine",
                "mgn mothership &",
            ),
            (
                "Start the servers of a file, and listen where it says",
                "mgn mothership wall.toml",
            ),
        ],
        "mgn-relay" => &[
            (
                "Carry programs to two servers that only this machine reaches",
                "mgn relay --listen tls:head:7600 --token-file wall.token --to gpu1=tls:10.0.0.11:7500 --to gpu2=tls:10.0.0.12:7500",
            ),
            (
                "Carry programs to all servers of a mothership",
                "mgn relay --listen tls:head:7600 --token-file wall.token --mothership tls:control:7400",
            ),
        ],
        "mgn-status" => &[
            ("See who draws for whom", "mgn status"),
            (
                "The same of a mothership on another machine, for a program to read",
                "mgn status --mothership tls:control:7400 --token-file wall.token --json",
            ),
        ],
        "mgn-stop" => &[("End the mothership and the servers that it has started", "mgn stop")],
        "mgn-config" | "mgn-config-check" => &[(
            "Find the mistakes in a file of walls",
            "mgn config check wall.toml",
        )],
        "mgn-config-show" => &[("Draw the walls of a file", "mgn config show wall.toml")],
        "mgn-config-schema" => &[("Print the schema, to keep it in a file", "mgn config schema")],
        "mgn-token" | "mgn-token-new" => &[(
            "Make a token, of which servers and programs on other machines need a copy",
            "mgn token new wall.token",
        )],
        _ => &[],
    }
}
