fabricast validate fidelity incast-8 two-jobs-uplink --format csv --fidelity analytic,fluid
